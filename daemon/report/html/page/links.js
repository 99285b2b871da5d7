// SPDX-License-Identifier: Apache-2.0
// Where a line of source is: in this page, in an editor, in a repository. The latter two are
// addresses with {file}, {path} and {line} in them, which the command line gave.

let sourceLinks = { editor: null, repository: null, root: '' };
let showSource = null; // (file, line): true when it is there

function encodePath(path) {
	return path.split('/').map(encodeURIComponent).join('/');
}

function fillAddress(template, file, line) {
	const root = sourceLinks.root.replace(/\/*$/, '/');
	const path = file.startsWith(root) ? file.slice(root.length) : file.replace(/^\/+/, '');
	const values = { file: encodePath(file), path: encodePath(path), line: String(line || 1) };
	return template.replace(/\{(file|path|line)\}/g, (whole, name) => values[name]);
}

// Links that leave the page; none for code that has no file.
function outerLinks(file, line) {
	const links = [];
	if (!file.startsWith('/') || !line)
		return links;
	for (const [name, template] of [['edit', sourceLinks.editor], ['repo', sourceLinks.repository]])
		if (template)
			links.push(' ', element('a', { class: 'outer', href: fillAddress(template, file, line), target: '_blank',
				rel: 'noopener noreferrer', 'aria-label': name + ' ' + place(lastComponent(file), line) }, name));
	return links;
}

// The number of a line in its file, as the first of them; the others where asked for.
function numberLinks(file, line, all) {
	const links = outerLinks(file, line);
	if (!links.length)
		return [String(line)];
	links[1].textContent = line;
	return all ? links.slice(1) : [links[1]];
}

// A place, which leads to the section of sources, and the links.
function placeLinks(file, line, words) {
	if (!line)
		return [element('span', { class: 'where', title: shown(file) }, words)];
	const link = element('a', { class: 'where', href: '#source', title: shown(file) }, words);
	link.addEventListener('click', function (event) {
		event.preventDefault();
		event.stopPropagation();
		if (showSource)
			showSource(file, line);
	});
	return [link, ...outerLinks(file, line)];
}

// Those that are there without script.
function linkVerdict(report) {
	const lines = new Map(report.lines.map(line => [place(line.file, line.line), line]));
	for (const where of document.querySelectorAll('#verdict .place .where')) {
		const line = lines.get(where.textContent);
		if (line)
			where.replaceWith(...placeLinks(line.file, line.line, where.textContent));
	}
}
