// SPDX-License-Identifier: Apache-2.0
// The page of a look at a heap, or of two compared: tables and a flame graph, of the data of heap_html.c or heap_diff_html.c.

function bytesCell(bytes, whole) {
	return numberCell(bytes ? bytesText(bytes) : '-', whole ? bytes / whole : 0);
}

// columns: of rows that are arrays, whose first member is a name. Returns fill(), by what is searched for.
function startHeapTable(id, columns, rows, what, words) {
	const show = makeTable(document.getElementById(id), columns, columns[1], what);

	return function (wanted) {
		show(wanted ? rows.filter(row => row[0].toLowerCase().includes(wanted)) : rows, words);
	};
}

function startTypes(data) {
	const field = document.getElementById('type-filter');
	const fill = startHeapTable('type-table', [
		{ title: 'Type', text: true, value: row => row[0], cell: row => element('th', { scope: 'row' }, element('code', {}, shown(row[0]))) },
		{ title: 'Bytes', value: row => row[2], cell: row => bytesCell(row[2], data.rss) },
		{ title: 'Objects', value: row => row[1], cell: row => numberCell(String(row[1]), 0) },
		{ title: 'Storage', value: row => row[3], cell: row => bytesCell(row[3], data.rss) },
	], data.types, 'types', 'Bars are shares of what is in RAM; a heading sorts' +
		(data.types_omitted ? '; ' + data.types_omitted + ' types with least are left out' : ''));

	field.addEventListener('input', () => fill(field.value.trim().toLowerCase()));
	fill('');
}

function startHolders(data) {
	if (data.holders)
		startHeapTable('holder-table', [
			{ title: 'Holder', text: true, value: row => row[0],
				cell: row => element('th', { scope: 'row' }, element('code', {}, shown(row[0])), row[1] ? element('br') : '',
					row[1] ? element('span', { class: 'where' }, shown(row[1])) : '') },
			{ title: 'Holds', value: row => row[2], cell: row => bytesCell(row[2], data.rss) },
			{ title: 'Objects there', value: row => row[3], cell: row => numberCell(String(row[3]), 0) },
			{ title: 'Their bytes', value: row => row[4], cell: row => bytesCell(row[4], data.rss) },
			{ title: 'Objects held', value: row => row[5], cell: row => numberCell(String(row[5]), 0) },
		], data.holders, 'holders', 'Bars are shares of what is in RAM; none of the rows is inside of another; a heading sorts')('');
}

// The tree as the flame graph takes it: bytes or objects as its only kind of times.
function flameTree(data) {
	const none = new Array(data.depth.length).fill(0);
	const times = values => ({ python: values, native: none, system: none });
	const objects = count => count + (count === 1 ? ' object' : ' objects');

	return Object.assign(times(data.bytes), {
		frames: data.frames.map(words => [4, words, '', 0, 0]),
		depth: data.depth,
		frame: data.frame,
		measures: [
			{ name: '', title: 'live bytes', whole: 'All of the live bytes', words: bytesText, times: times(data.bytes) },
			{ name: 'objects', title: 'live objects', whole: 'All live objects', words: objects, times: times(data.count) },
		],
	});
}

// ---- compared with an earlier look

function changeCell(figures, words) {
	const change = figures[1] - figures[0];
	return numberCell(change ? (change < 0 ? '-' : '+') + words(Math.abs(change)) : '-', 0);
}

// Rows of [name, bytes, objects, presence], the figures as [before, now].
function startChangeTable(id, title, rows, what, whole) {
	const change = figures => figures[1] - figures[0];
	return startHeapTable(id, [
		{ title, text: true, value: row => row[0], cell: row => element('th', { scope: 'row' }, element('code', {}, shown(row[0])),
			...(row[3] ? [element('br'), element('span', { class: 'where' }, row[3])] : [])) },
		{ title: 'Change', value: row => change(row[1]), cell: row => changeCell(row[1], bytesText) },
		{ title: 'Before', value: row => row[1][0], cell: row => bytesCell(row[1][0], whole) },
		{ title: 'Now', value: row => row[1][1], cell: row => bytesCell(row[1][1], whole) },
		{ title: 'Objects', value: row => change(row[2]), cell: row => changeCell(row[2], String) },
	], rows, what, 'What grew most comes first, what shrank most last; bars are shares of what is in RAM; a heading sorts');
}

// Both looks as one tree, whose widths are those of now, or of before.
function comparedTree(data) {
	const objects = count => count + (count === 1 ? ' object' : ' objects');
	const joined = function (member) {
		const [base, now] = [data.base, data.now].map(function (tree) {
			const none = new Array(tree.depth.length).fill(0);
			return { frames: tree.frames.map(words => [4, words, '', 0, 0]), depth: tree.depth, frame: tree.frame,
				python: tree[member], native: none, system: none };
		});
		return joinTrees(base, now);
	};
	const bytes = joined('bytes');
	const count = joined('count');

	return Object.assign({}, bytes, {
		measures: [
			{ name: '', title: 'live bytes', whole: 'All of the live bytes', words: bytesText, times: bytes, before: bytes.before },
			{ name: 'before', title: 'live bytes before', whole: 'All of the live bytes', words: bytesText, times: bytes, before: bytes.before },
			{ name: 'objects', title: 'live objects', whole: 'All live objects', words: objects, times: count, before: count.before },
		],
	});
}

function startCompared(data) {
	const field = document.getElementById('type-filter');
	const fill = startChangeTable('type-table', 'Type', data.types, 'types', data.rss);

	startFlame({ lines: [], threads: [] }, comparedTree(data));
	field.addEventListener('input', () => fill(field.value.trim().toLowerCase()));
	fill('');
	if (document.getElementById('holder-table'))
		startChangeTable('holder-table', 'Holder', data.holders, 'holders', data.rss)('');
}

function startLook(data) {
	const folded = document.getElementById('folded-note');

	startFlame({ lines: [], threads: [] }, flameTree(data));
	folded.hidden = !data.folded;
	folded.textContent = data.folded + ' paths that hold least are part of those that lead to them, or of [smaller holders].';
	startHolders(data);
	startTypes(data);
}

async function startHeap() {
	const data = await readData('heap-data');

	for (const part of document.querySelectorAll('.script'))
		part.hidden = false;
	startTabs();
	if (data.base)
		startCompared(data);
	else
		startLook(data);
}

startHeap().catch(function (error) {
	const problem = document.getElementById('problem');
	problem.textContent = 'The data of this page cannot be read by this browser: ' + error.message;
	problem.hidden = false;
});
