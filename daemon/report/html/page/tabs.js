// SPDX-License-Identifier: Apache-2.0
// The sections as tabs: the links on top, each of which has a panel. Without script, and on paper,
// all of them are there, one behind the other.

function panelOf(id) {
	const target = id && document.getElementById(id);
	return target ? target.closest('.panel') : null;
}

function showTab(tab, focused) {
	for (const other of document.querySelectorAll('#tabs a')) {
		const chosen = other === tab;
		other.setAttribute('aria-selected', chosen);
		other.tabIndex = chosen ? 0 : -1;
		panelOf(other.hash.slice(1)).classList.toggle('off', !chosen);
	}
	if (focused)
		tab.focus();
	// What is drawn by its width.
	document.dispatchEvent(new Event('tabshown'));
}

// The tab that an element is in; its id, or the element itself.
function reveal(target) {
	const panel = typeof target === 'string' ? panelOf(target) : target.closest('.panel');
	const tab = panel && [...document.querySelectorAll('#tabs a')].find(other => panelOf(other.hash.slice(1)) === panel);
	if (tab && tab.getAttribute('aria-selected') !== 'true')
		showTab(tab, false);
	return Boolean(tab);
}

/* In the address, which a page in a notebook's frame has none of its own of: it is refused there. */
function rememberTab(tab) {
	try {
		window.history.replaceState(null, '', tab.hash);
	} catch (error) {
		if (error.name !== 'SecurityError')
			throw error;
	}
}

function startTabs() {
	const list = document.getElementById('tabs');
	const tabs = [...list.querySelectorAll('a')];

	function onKey(event) {
		const at = tabs.indexOf(event.target);
		const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
		if (next === undefined || event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		showTab(tabs[(next + tabs.length) % tabs.length], true);
	}

	list.setAttribute('role', 'tablist');
	list.parentElement.removeAttribute('aria-label');
	list.setAttribute('aria-label', 'Sections');
	for (const item of list.children)
		item.setAttribute('role', 'presentation');
	tabs.forEach(function (tab, i) {
		const panel = panelOf(tab.hash.slice(1));
		tab.id = 'tab-' + i;
		panel.id = panel.id || 'panel-' + i;
		tab.setAttribute('role', 'tab');
		tab.setAttribute('aria-controls', panel.id);
		panel.setAttribute('role', 'tabpanel');
		panel.setAttribute('aria-labelledby', tab.id);
		tab.addEventListener('click', function (event) {
			event.preventDefault();
			showTab(tab, false);
			rememberTab(tab);
		});
	});
	list.addEventListener('keydown', onKey);
	// Links from one section into another.
	document.addEventListener('click', function (event) {
		const link = event.target.closest('a[href^="#"]');
		if (link && !link.closest('#tabs'))
			reveal(link.hash.slice(1));
	});
	window.addEventListener('hashchange', () => reveal(window.location.hash.slice(1)));
	document.addEventListener('keydown', function (event) {
		if (event.key !== '/' || event.ctrlKey || event.altKey || event.metaKey || event.target.closest('input, select'))
			return;
		event.preventDefault();
		const all = document.getElementById('search');
		const filter = document.querySelector('.panel:not(.off) input[type="search"]');
		if (!filter && !all)
			return;
		if (!filter)
			reveal('flame');
		(filter || all).focus();
	});
	showTab(tabs[0], false);
	reveal(window.location.hash.slice(1));
}
