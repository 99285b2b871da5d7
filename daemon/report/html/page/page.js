// SPDX-License-Identifier: Apache-2.0
// The report: lines, functions, what could be saved, pairs; the other sections have files of their own.

function showReport(report, tree, base) {
	const totalTime = report.time_ns.python + report.time_ns.native + report.time_ns.system;
	const classes = userClasses(report);
	const asleep = waitKinds(report).length > 0;
	// What of the run is shown: null for all of it, or from one moment to another, in ns.
	let range = null;
	let rangeTime = totalTime;
	let flame = null; // once what it is drawn on is there

	shareDigits = report.samples < 100 ? 0 : 1;
	for (const [index, mark] of Object.entries(tree.marks || {}))
		report.lines[index].mark = mark;

	function shareOfTime(ns) {
		return percent(ns, totalTime);
	}

	function shareOfRange(ns) {
		return percent(ns, rangeTime);
	}

	function list(id, items, count, make) {
		const parent = document.getElementById(id);
		const more = element('button', { type: 'button', class: 'more' });
		let next = 0;

		function add() {
			const first = next;
			for (; next < items.length && next < first + count; next++)
				parent.insertBefore(make(items[next], next), more);
			more.hidden = next >= items.length;
			more.textContent = 'Show more (' + (items.length - next) + ')';
		}
		more.addEventListener('click', add);
		parent.append(more);
		add();
		return function (index) {
			while (next <= index && next < items.length)
				add();
		};
	}

	// ---- lines

	// By place, which pairs begin there.
	const pairsOfLine = new Map();

	function innermostPython(frames) {
		for (let i = frames.length - 1; i >= 0; i--)
			if (frames[i].kind === 'python')
				return i;
		return -1;
	}

	report.pairs.forEach(function (pair, index) {
		const at = innermostPython(pair.first);
		const key = at < 0 ? '' : pair.first[at].file + '\n' + pair.first[at].line;
		pairsOfLine.set(key, (pairsOfLine.get(key) || []).concat(index));
	});

	let showPair = function () {};

	function pairLink(index, text) {
		const link = element('a', { href: '#pair-' + (index + 1) }, text);
		link.addEventListener('click', function (event) {
			event.preventDefault();
			showPair(index);
		});
		return link;
	}

	function pairsOf(line) {
		return pairsOfLine.get(line.file + '\n' + line.line) || [];
	}

	function lineHead(line) {
		return element('th', { scope: 'row' },
			...placeLinks(line.file, line.line, shortWords(line.file, line.line)),
			sourceText(line, { class: 'source' }, line.function));
	}

	function interval(line) {
		return line.avoidable_ns || line.avoidable_high_ns ?
			duration(line.avoidable_low_ns) + ' to ' + duration(line.avoidable_high_ns) : '-';
	}

	function category(name) {
		return name === 'unclear' ? '' : name;
	}

	function rangeCell(ns) {
		return numberCell(shareOfRange(ns), rangeTime ? ns / rangeTime : 0);
	}

	const columns = [
		{ title: 'Line', text: true, value: line => line.file, cell: lineHead },
		{ title: 'Self', value: selfTime, cell: line => rangeCell(selfTime(line)) },
		...classes.map(one => ({ title: one.title, value: one.time, cell: line => rangeCell(one.time(line)) })),
		{ title: 'System', value: line => line.system_ns, cell: line => rangeCell(line.system_ns) },
		{ title: 'Total', value: line => line.total_ns, cell: line => rangeCell(line.total_ns) },
		{ title: 'Could save', value: line => line.avoidable_ns,
			cell: line => numberCell(line.avoidable_ns ? duration(line.avoidable_ns) : '-',
				totalTime ? line.avoidable_ns / totalTime : 0) },
		{ title: '95% interval', value: line => line.avoidable_low_ns, cell: line => numberCell(interval(line), 0) },
		{ title: 'Category', text: true, value: line => category(line.category),
			cell: line => element('td', {}, category(line.category)) },
	];
	// Of a node of the tree without Python, the frame that counts for a line: the one that entered the kernel.
	function nativeOf(node) {
		const kindOf = i => tree.frames[tree.frame[i]][0];
		while (kindOf(node) === KERNEL && tree.depth[node] > 0) {
			let outer = node;
			while (tree.depth[outer] >= tree.depth[node])
				outer--;
			if (kindOf(outer) === 2) // of several processes, the process
				break;
			node = outer;
		}
		return tree.frame[node];
	}

	// As report.lines has them: a native function is one where there is no Python on the stack.
	function keyOf(file, line, name) {
		return line ? file + '\n' + line : file + '\n0\n' + name;
	}

	// Those of which the whole run is known, with the times of the range, from the tree; keyOfFrame: what a
	// Python frame counts for.
	function itemsOfRange(known, times, keyOfItem, keyOfFrame) {
		const items = new Map();
		const model = flame.model;
		const itemOf = []; // by frame of the model: of the innermost Python frame, or null

		for (const item of known)
			items.set(keyOfItem(item), Object.assign({}, item,
				{ python_ns: 0, native_ns: 0, system_ns: 0, total_ns: 0, coveredUntil: 0 }));

		function find(frame) {
			const [, name, file, number] = tree.frames[frame];
			const key = keyOfFrame(file, number, name);
			if (!items.has(key))
				items.set(key, { file: file, line: number, function: name, source: null, category: 'unclear',
					python_ns: 0, native_ns: 0, system_ns: 0, total_ns: 0, coveredUntil: 0,
					avoidable_ns: 0, avoidable_low_ns: 0, avoidable_high_ns: 0 });
			return items.get(key);
		}
		for (let i = 0; i < model.node.length; i++) {
			const id = model.node[i];
			const python = tree.frames[tree.frame[i]][0] === 0;
			const outer = itemOf[model.parent[id]] || null;
			const item = itemOf[id] = python ? find(tree.frame[i]) : outer;
			const own = times.python[i] + times.native[i] + times.system[i];
			// Once for all samples with it on the stack, also in recursion.
			if (python && model.total[id] > 0 && id >= item.coveredUntil) {
				item.total_ns += model.total[id];
				item.coveredUntil = model.end[id];
			}
			if (!own)
				continue;
			const charged = item || find(nativeOf(i));
			charged.python_ns += times.python[i];
			charged.native_ns += times.native[i];
			charged.system_ns += times.system[i];
			if (!item)
				charged.total_ns += own;
		}
		return [...items.values()].filter(item => item.total_ns > 0);
	}

	// Not those that threads only slept in.
	const timedLines = report.lines.filter(line => line.total_ns > 0 || line.loads.sampled + line.stores.sampled > 0);
	let showLines = function () {}, showFunctions = function () {};

	function captionOf() {
		return 'Shares of ' + duration(rangeTime) + ' of CPU time' +
			(range ? ' in the range; what lines could save is of the whole run' : '') + '; a heading sorts';
	}

	function startLines() {
		const show = makeTable(document.getElementById('line-table'), columns, columns[1], 'lines');
		showLines = function (times) {
			show(range ? itemsOfRange(report.lines, times, line => keyOf(line.file, line.line, line.function), keyOf) : timedLines,
				captionOf() + (tree.lines_omitted ? '; ' + tree.lines_omitted + ' lines with least time are left out' : ''));
		};
		showLines(tree);
	}

	// ---- functions

	function functionHead(item) {
		const around = element('button', { type: 'button', class: 'around', 'aria-label': 'Callers and callees of ' + shown(item.function) }, 'callers');
		around.addEventListener('click', () =>
			flame.lookAround(frame => frame[1] === item.function && frame[2] === item.file));
		return element('th', { scope: 'row' }, element('code', {}, shown(item.function)), ' ', around, element('br'),
			...placeLinks(item.file, item.line, shortWords(item.file, item.line)));
	}

	function startFunctions() {
		const timed = (report.functions || []).filter(item => item.total_ns > 0);
		const shownColumns = [
			{ title: 'Function', text: true, value: item => item.function, cell: functionHead },
			...columns.filter(column => ['Self', 'Total', 'System', 'Could save'].includes(column.title) ||
				classes.some(one => one.title === column.title)),
		];
		const field = document.getElementById('function-filter');
		const show = makeTable(document.getElementById('function-table'), shownColumns, shownColumns[1], 'functions');
		const key = (file, line, name) => file + '\n' + name;
		let items = timed;

		function fill() {
			const wanted = field.value.trim().toLowerCase();
			show(wanted ? items.filter(item => (item.function + '\n' + item.file).toLowerCase().includes(wanted)) : items,
				captionOf() + (tree.functions_omitted ? '; ' + tree.functions_omitted + ' functions with least time are left out' : ''));
		}
		field.addEventListener('input', fill);
		showFunctions = function (times) {
			items = range ? itemsOfRange(timed, times, item => key(item.file, 0, item.function), key) : timed;
			fill();
		};
		showFunctions(tree);
	}

	// ---- redundant lines

	function counts(name, accesses) {
		return accesses.redundant + ' of ' + accesses.sampled + ' ' + name + ' (' +
			percent(accesses.redundant, accesses.sampled) + ')';
	}

	function linkList(line) {
		const links = element('p', {});
		pairsOf(line).slice(0, 5).forEach(function (index, i) {
			links.append(i ? ', ' : 'Pairs: ', pairLink(index, 'pair ' + (index + 1)));
		});
		return links;
	}

	function redundantLine(line) {
		const figures = [];
		if (line.loads.sampled)
			figures.push(counts('loads', line.loads));
		if (line.stores.sampled)
			figures.push(counts('stores', line.stores));
		const article = element('article', {},
			element('h3', {}, ...placeLinks(line.file, line.line, shortWords(line.file, line.line)), ' in ', shown(line.function)));
		if (line.source)
			article.append(sourceText(line, { class: 'source' }, ''));
		if (line.finding)
			article.append(element('p', {}, shown(line.finding)));
		article.append(
			element('p', { class: 'figures' }, 'Could save ' + duration(line.avoidable_ns) + ' (' +
				shareOfTime(line.avoidable_ns) + ' of the CPU time; 95% interval ' + interval(line) + ')'));
		if (figures.length)
			article.append(element('p', {}, 'Redundant: ' + figures.join(', ')));
		article.append(
			element('ul', {}, ...line.reasons.filter(reason => reason !== line.finding).map(reason => element('li', {}, shown(reason)))));
		if (category(line.category))
			article.append(element('p', {}, element('strong', {}, line.category + ': '), tree.advice[line.category] || ''));
		article.append(linkList(line));
		return article;
	}

	const linesByPlace = new Map(report.lines.map(line => [line.file + '\n' + line.line, line]));

	// One of the report's findings: the words are the report's own.
	function findingArticle(finding) {
		const line = linesByPlace.get(finding.file + '\n' + finding.line);
		const article = element('article', {}, element('h3', {}, ...placeLinks(finding.file, finding.line,
			shortWords(finding.file, finding.line)), ' in ', shown(finding.function)));
		const paragraph = words => words && article.append(element('p', {}, shown(words)));

		if (line && line.source)
			article.append(sourceText(line, { class: 'source' }, ''));
		if (finding.own_line)
			article.append(element('p', {}, 'Called from ', ...placeLinks(finding.own_line.file, finding.own_line.line,
				shortWords(finding.own_line.file, finding.own_line.line)), ' in ', shown(finding.own_line.function)));
		paragraph(finding.what);
		if (finding.gain)
			article.append(element('p', { class: 'figures' }, shown(finding.gain)));
		paragraph(finding.evidence);
		paragraph(finding.caution);
		if (finding.advice)
			article.append(element('p', {}, element('strong', {}, category(finding.category) ? finding.category + ': ' : ''), shown(finding.advice)));
		if (finding.example)
			article.append(element('p', {}, 'For example: ', element('code', {}, shown(finding.example))));
		if (line)
			article.append(linkList(line));
		return article;
	}

	function noneSeen() {
		return report.loads.sampled + report.stores.sampled ? 'None was seen.' :
			'No memory access was watched in this run, so that nothing can be said.';
	}

	function startRedundant() {
		const saving = report.lines.filter(line => line.avoidable_ns > 0);
		const lines = (saving.length ? saving : report.lines.filter(line => redundantCount(line) > 0))
			.sort((a, b) => b.avoidable_ns - a.avoidable_ns || redundantCount(b) - redundantCount(a));
		// The report's findings, then lines of which less is known.
		const findings = report.findings || [];
		const found = new Set(findings.map(finding => finding.file + '\n' + finding.line));
		const items = findings.concat(lines.filter(line => !found.has(line.file + '\n' + line.line)));

		list('redundant-list', items, findings.length || 5, item => item.headline ? findingArticle(item) : redundantLine(item));
		if (!items.length)
			document.getElementById('redundant-list').append(element('p', {}, noneSeen()));
	}

	// ---- pairs

	function sameFrame(a, b) {
		return a.kind === b.kind && a.function === b.function && a.file === b.file && a.line === b.line &&
			a.library === b.library && a.address === b.address;
	}

	function frameItem(frame) {
		const python = frame.kind === 'python';
		const item = element('li', { class: python ? 'python' : 'native' });

		if (python) {
			item.append(element('strong', {}, shown(frame.source || frame.function)),
				element('small', {}, 'Python: ' + shown(frame.function) + ', ' + place(frame.file, frame.line) +
					(frame.opcode ? ', ' + shown(frame.opcode) : '')));
		} else {
			item.append(element('strong', {}, shown(frame.function === '?' ? frame.address : frame.function)),
				element('small', {}, 'Native: ' + shown(libraryName(frame.library)) + ' ' + frame.address +
					(frame.file ? ', ' + place(frame.file, frame.line) : '') +
					(frame.inlined ? ', inlined' : '') + (frame.guessed ? ', found by scanning the stack' : '')));
		}
		return item;
	}

	function stack(frames) {
		return element('ol', { class: 'stack' }, ...frames.map(frameItem));
	}

	// How many callers both have in common; the innermost Python frames are shown in any case.
	function commonCallers(pair) {
		const most = Math.min(
			Math.max(innermostPython(pair.first), 0), Math.max(innermostPython(pair.second), 0));
		let count = 0;
		while (count < most && sameFrame(pair.first[count], pair.second[count]))
			count++;
		return count;
	}

	function side(heading, frames) {
		return element('div', {}, element('h3', {}, heading), stack(frames));
	}

	function fillPair(details, pair) {
		const common = commonCallers(pair);
		const verb = pair.kind === 'load' ? 'load' : 'store';

		details.append(element('p', {}, pair.redundant + ' of ' + pair.sampled + ' watched ' + verb +
			's found the same value: ' + percent(pair.share, 1) + ' (95% interval ' + percent(pair.share_low, 1) + ' to ' +
			percent(pair.share_high, 1) + '). Could save ' + duration(pair.avoidable_ns) + '.'));
		if (category(pair.category))
			details.append(element('p', {}, element('strong', {}, pair.category + ': '), shown(pair.advice || '')));
		if (common)
			details.append(element('details', { class: 'common' },
				element('summary', {}, common + (common === 1 ? ' caller' : ' callers') + ' in common'),
				stack(pair.first.slice(0, common))));
		details.append(element('div', { class: 'sides' },
			side('Earlier ' + verb, pair.first.slice(common)),
			side('Later ' + verb + ' of the same value', pair.second.slice(common))));
	}

	function pairTitle(pair, index) {
		const at = innermostPython(pair.first);
		const where = at < 0 ? 'no Python frame' : place(lastComponent(pair.first[at].file), pair.first[at].line);
		return 'Pair ' + (index + 1) + ': ' + pair.kind + 's at ' + where + ', ' + pair.redundant + ' of ' + pair.sampled +
			' the same, could save ' + duration(pair.avoidable_ns);
	}

	function makePair(pair, index) {
		const details = element('details', { id: 'pair-' + (index + 1) }, element('summary', {}, pairTitle(pair, index)));
		let filled = false;

		function fill() {
			if (!filled)
				fillPair(details, pair);
			filled = true;
		}
		details.addEventListener('toggle', () => details.open && fill());
		if (index === 0) {
			fill();
			details.open = true;
		}
		return details;
	}

	function startPairs() {
		const reach = list('pair-list', report.pairs, 10, makePair);
		const holder = document.getElementById('pair-list');

		showPair = function (index) {
			reach(index);
			const details = document.getElementById('pair-' + (index + 1));
			reveal(details);
			details.open = true;
			details.querySelector('summary').focus();
			details.scrollIntoView({ block: 'start' });
		};
		if (!report.pairs.length)
			holder.append(element('p', {}, noneSeen()));
		if (report.pairs_omitted)
			holder.append(element('p', {}, report.pairs_omitted + ' further pairs, the least important ones, are left out.'));
	}

	// ---- a part of the run

	// What ended in each node of the tree from one moment to another.
	function timesOf(from, to) {
		const count = tree.depth.length;
		const slices = tree.slices;
		const times = {};

		for (const kind of ['python', 'native', 'system']) {
			const sums = times[kind] = new Array(count).fill(0);
			for (let i = 0; i < slices.node.length; i++) {
				const at = slices.slice[i] * tree.slice_ns;
				if (at >= from && at < to)
					sums[slices.node[i]] += slices[kind][i];
			}
		}
		return times;
	}

	function showRange(chosen) {
		range = chosen;
		const times = range ? timesOf(range.from, range.to) : tree;
		// Lines are by CPU time in any case.
		flame.weigh(times);
		rangeTime = range ? flame.model.total[0] : totalTime;
		showLines(times);
		showFunctions(times);
		flame.show(times, Boolean(range));
	}

	for (const part of document.querySelectorAll('.script'))
		part.hidden = false;
	startTabs();
	flame = startFlame(report, base ? joinTrees(base.tree, tree) : tree);
	startLines();
	startFunctions();
	// Of the earlier profile there are no ranges.
	startTimeline(report, tree, base ? null : showRange);
	startWaiting(report, lineHead);
	startRedundant();
	startPairs();
	startSource(report, tree, { classes, totalTime, asleep, list, pairsOf, pairLink });
	linkVerdict(report);
	if (base)
		startChanges(base.diff);
}

async function start() {
	const report = await readData('report-data');
	const tree = await readData('tree-data');
	const base = document.getElementById('base-data') ? await readData('base-data') : null;

	sourceLinks = Object.assign(sourceLinks, tree.links || {});
	showReport(report, tree, base);
}

start().catch(function (error) {
	const problem = document.getElementById('problem');
	problem.textContent = 'The data of this page cannot be read by this browser: ' + error.message;
	problem.hidden = false;
});
