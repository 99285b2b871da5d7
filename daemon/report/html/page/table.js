// SPDX-License-Identifier: Apache-2.0
// A table that a click on a heading sorts, with some rows at a time and without columns that are empty.

function numberCell(text, part) {
	const cell = element('td', { class: 'number' }, text);
	if (part > 0) {
		cell.classList.add('share');
		cell.style.setProperty('--part', Math.min(part, 1));
	}
	if (text === '-')
		cell.classList.add('none');
	return cell;
}

// columns: { title, text: is it words, value(row), cell(row) }. Returns show(rows, caption).
function makeTable(holder, columns, sortedFirst, what) {
	const ROWS = 12;
	const body = element('tbody');
	const head = element('tr');
	const caption = element('caption');
	const more = element('button', { type: 'button', class: 'more' });
	let count = ROWS, rows = [], shown = [], sortedBy = sortedFirst, descends = true;

	function fill() {
		body.replaceChildren(...rows.slice(0, count).map(row => element('tr', {}, ...shown.map(function (column) {
			const cell = column.cell(row);
			cell.dataset.title = column.title;
			return cell;
		}))));
		more.hidden = count >= rows.length;
		more.textContent = 'Show more ' + what + ' (' + (rows.length - count) + ')';
	}

	function compare(a, b) {
		const [first, second] = [sortedBy.value(a), sortedBy.value(b)];
		const order = first < second ? -1 : first > second ? 1 : sortedBy.text ? (a.line || 0) - (b.line || 0) : 0;
		return descends ? -order : order;
	}

	function sort() {
		rows.sort(compare);
		shown.forEach((column, i) => column === sortedBy ?
			head.children[i].setAttribute('aria-sort', descends ? 'descending' : 'ascending') :
			head.children[i].removeAttribute('aria-sort'));
		fill();
	}

	function makeHead() {
		head.replaceChildren(...shown.map(function (column) {
			const button = element('button', { type: 'button' }, column.title);
			button.addEventListener('click', function () {
				descends = sortedBy === column ? !descends : !column.text;
				sortedBy = column;
				sort();
			});
			return element('th', { scope: 'col', class: column.text ? '' : 'number' }, button);
		}));
	}

	more.addEventListener('click', function () {
		count += 8 * ROWS;
		fill();
	});
	holder.replaceChildren(element('table', { class: 'stacked' }, caption, element('thead', {}, head), body));
	holder.after(more);
	return function (newRows, words) {
		rows = newRows.slice();
		const wanted = columns.filter(column => column === columns[0] || rows.some(row => column.value(row)));
		if (wanted.length !== shown.length || wanted.some((column, i) => column !== shown[i])) {
			shown = wanted;
			makeHead();
		}
		if (!shown.includes(sortedBy))
			sortedBy = shown[1] || shown[0];
		caption.textContent = words;
		sort();
	};
}
