// SPDX-License-Identifier: Apache-2.0
// The flame graph: a view of the tree (flame_view.js) drawn as boxes, zoomed, searched, by CPU time or
// by waiting, or beside that of an earlier profile; or by what else the tree is of (tree.measures).

const ROW = 24; // pixels
const WIDTH_MIN = 2; // of a frame, in pixels
const LABEL_WIDTH_MIN = 28;
const BOXES_MAX = 6000;
const CHANGE_MIN = 0.001; // of shares, that is coloured

// What the widths of frames are. times: of its own nodes, where it is not that of the tree.
const CPU_TIME = { title: 'CPU time', whole: 'All of the CPU time', words: duration };

// The graph of the whole run. model: the tree as it is drawn; weigh(times) gives its frames their
// time; show(times, ofRange) draws those of the run or of a part of it; lookAround(match) draws the callers
// and callees of the function of the first frame that matches.
function startFlame(report, tree) {
	function weigh(times) {
		[model.self, model.total] = sumUpTimes(model, times);
	}

	const model = makeFlameModel(tree);
	const graph = document.getElementById('graph');
	const scroller = document.getElementById('graph-scroll');
	const detail = document.getElementById('frame');
	const tip = document.getElementById('tip');
	const zoomOut = document.getElementById('zoom-out');
	const sources = new Map(report.lines.map(line => [line.file + '\n' + line.line, line.source]));
	const options = { native: true, start: false, lines: !tree.before, up: false };
	let times = tree; // that the frames' widths are made of: of the run, or of a part of it
	let ofRange = false;
	let thread = ''; // the number of the one that is shown alone
	let weight = ''; // what is shown in place of CPU time: a kind of waiting, or 'before'
	let view = null;
	let zoomed = null; // a node of the view
	let sandwich = null; // { callers, callees }, while these are drawn
	let hits = null; // by frame, while something is searched for
	let boxes = new Map(); // by the node's number: { node, box, row }
	let drawnWidth = 0;

	function wholeTime() {
		return view.root.total;
	}

	function shareOfGraph(ns) {
		return percent(ns, wholeTime());
	}

	function isWaiting() {
		return !tree.measures && weight && weight !== 'before';
	}

	function measure() {
		return tree.measures ? tree.measures.find(one => one.name === weight) : CPU_TIME;
	}

	function frameOf(node) {
		return node.key === ROOT || node.key === REST ? node.key : model.frame[node.id];
	}

	function frameName(node) {
		const frame = frameOf(node);
		return frame === ROOT ? 'all' : frame === REST ? node.count + ' more' : frame === SYSTEM ? '[system]' :
			shown(tree.frames[frame][1]) + (tree.frames[frame][0] === KERNEL ? ' [k]' : '');
	}

	function frameKind(node) {
		const frame = frameOf(node);
		return frame === ROOT ? 'root' : frame === REST ? 'rest' : frame === SYSTEM ? 'system' :
			['python', 'native', 'process', 'system', 'held'][tree.frames[frame][0]];
	}

	function frameWhere(node) {
		const frame = frameOf(node);
		return frame < 0 || tree.frames[frame][0] > 1 ? '' : place(tree.frames[frame][2], options.lines ? tree.frames[frame][3] : 0);
	}

	function labelOf(node) {
		const frame = frameOf(node);
		if (frame < 0 || tree.frames[frame][0])
			return frameName(node);
		return frameName(node) + ' (' + place(lastComponent(tree.frames[frame][2]), options.lines ? tree.frames[frame][3] : 0) + ')';
	}

	// ---- compared with an earlier profile

	// Of shares of the time; of bytes, and what else there may be more of, as they are.
	function changeOf(node) {
		const whole = view.root;
		if (tree.measures)
			return (node.total - node.before) / Math.max(whole.total, whole.before, 1);
		return (whole.total ? node.total / whole.total : 0) - (whole.before ? node.before / whole.before : 0);
	}

	function shareWords(node) {
		if (tree.measures && tree.before)
			return measure().words(node.before) + ' before, ' + measure().words(node.total) + ' now';
		return tree.before ? percent(node.before, view.root.before) + ' before, ' + shareOfGraph(node.total) + ' now' : shareOfGraph(node.total);
	}

	function colourChange(box, node) {
		const change = changeOf(node);
		box.classList.add(change > CHANGE_MIN ? 'grew' : change < -CHANGE_MIN ? 'shrank' : 'same');
		box.style.setProperty('--change', Math.min(0.25 + Math.abs(change) * 2.5, 1));
	}

	function widthOf(node) {
		return weight === 'before' ? node.before : node.total;
	}

	// ---- words

	function describeWords(node) {
		const kind = frameKind(node);
		const words = { root: isWaiting() ? 'All time asleep' : thread !== '' ? 'CPU time of the thread' : ofRange ? 'CPU time of the range' : measure().whole,
			python: 'Python', native: 'Native', system: 'System', process: 'Process', held: 'Held', rest: 'Frames too narrow to be drawn; click to see them' };

		view.childrenOf(node);
		if (tree.measures && tree.before)
			return words[kind] + ', ' + shareWords(node);
		return words[kind] + ', ' + shareWords(node) + ' (' + measure().words(node.total) + ')' +
			(kind === 'rest' || options.up || sandwich ? '' : ', of its own ' + shareOfGraph(node.self));
	}

	function sourceOf(node) {
		const frame = frameOf(node);
		return frame >= 0 && tree.frames[frame][0] === 0 && options.lines ?
			sources.get(tree.frames[frame][2] + '\n' + tree.frames[frame][3]) : null;
	}

	function describe(node) {
		const frame = frameOf(node);
		const where = frameWhere(node);
		detail.replaceChildren(element('strong', {}, labelOf(node)), ' ', describeWords(node), element('br'),
			...(where && frameKind(node) === 'python' ? placeLinks(tree.frames[frame][2], tree.frames[frame][3], where) :
				[element('span', { class: 'where' }, where)]));
		if (sourceOf(node))
			detail.append(element('code', { class: 'source' }, shown(sourceOf(node))));
	}

	function showTip(event, node) {
		tip.replaceChildren(element('strong', {}, labelOf(node)), element('br'), describeWords(node));
		if (sourceOf(node))
			tip.append(element('code', { class: 'source' }, shown(sourceOf(node))));
		tip.hidden = false;
		const box = tip.getBoundingClientRect();
		const left = Math.min(event.clientX + 12, document.documentElement.clientWidth - box.width - 4);
		const below = event.clientY + 16 + box.height < window.innerHeight;
		tip.style.left = Math.max(left, 4) + 'px';
		tip.style.top = Math.max(below ? event.clientY + 16 : event.clientY - 12 - box.height, 4) + 'px';
	}

	// ---- drawing

	function markBox(box, node) {
		const frame = frameOf(node);
		box.classList.toggle('match', Boolean(hits && frame >= 0 && hits[frame]));
		box.classList.toggle('dim', Boolean(hits && !(frame >= 0 && hits[frame])));
	}

	function addBox(node, left, width, row) {
		const box = element('div', {
			class: 'box ' + frameKind(node),
			role: 'treeitem',
			tabindex: '-1',
			'data-node': node.number,
			'aria-level': row + 1,
			'aria-label': labelOf(node) + ', ' + frameKind(node) + ', ' + shareWords(node),
		});
		box.style.left = left / drawnWidth * 100 + '%';
		box.style.width = width / drawnWidth * 100 + '%';
		box.style.top = row * ROW + 'px';
		if (width >= LABEL_WIDTH_MIN)
			box.textContent = (tree.before && frameKind(node) !== 'rest' ? { 1: '+ ', '-1': '- ', 0: '' }[
				Math.abs(changeOf(node)) > CHANGE_MIN ? Math.sign(changeOf(node)) : 0] : '') + labelOf(node);
		else
			box.classList.add('narrow');
		if (tree.before)
			colourChange(box, node);
		markBox(box, node);
		boxes.set(node.number, { node, box, row, left });
		return box;
	}

	// A node and all below it, from a row downwards or, as callers, upwards; step: 1 or -1. Returns how many rows.
	function drawFrom(fragment, start, row, scale, step, withStart) {
		const pending = [[start, 0, 0]];
		let rows = 1;
		// Breadth first: what is left out of a huge tree is the deepest.
		for (let at = 0; at < pending.length && boxes.size < BOXES_MAX; at++) {
			const [node, left, level] = pending[at];
			// A range may have no samples at all.
			const width = at ? widthOf(node) * scale : drawnWidth;
			if (at || withStart)
				fragment.append(addBox(node, left, width, row + step * level));
			rows = Math.max(rows, level + 1);
			let childLeft = left;
			const narrow = [];
			for (const child of view.childrenOf(node)) {
				const childWidth = widthOf(child) * scale;
				if (childWidth < WIDTH_MIN) {
					narrow.push(child);
					continue;
				}
				pending.push([child, childLeft, level + 1]);
				childLeft += childWidth;
			}
			if (!narrow.length || frameKind(node) === 'rest' && narrow.length === node.count)
				continue;
			const rest = view.restOf(node, narrow);
			if (widthOf(rest) * scale >= WIDTH_MIN && narrow.length > 1)
				pending.push([rest, childLeft, level + 1]);
		}
		return rows;
	}

	// How many rows the callers take, which are drawn from below: what drawFrom() returns, without drawing.
	function heightOf(start, scale) {
		let rows = 1;
		const pending = [[start, 1]];
		for (let at = 0; at < pending.length && at < BOXES_MAX; at++) {
			const [node, level] = pending[at];
			rows = Math.max(rows, level);
			for (const child of view.childrenOf(node))
				if (widthOf(child) * scale >= WIDTH_MIN)
					pending.push([child, level + 1]);
		}
		// A row of those that are too narrow may be behind them.
		return rows + 1;
	}

	function scaleOf(node) {
		return widthOf(node) > 0 ? drawnWidth / widthOf(node) : 0;
	}

	function drawSandwich(fragment) {
		const scale = scaleOf(sandwich.callees);
		const above = heightOf(sandwich.callers, scale) - 1;
		const below = drawFrom(fragment, sandwich.callees, above, scale, 1, true);
		drawFrom(fragment, sandwich.callers, above, scale, -1, false);
		return above + below;
	}

	function drawZoomed(fragment) {
		const above = [];
		for (let node = zoomed.parent; node; node = node.parent)
			above.unshift(node);
		above.forEach(function (node, row) {
			const box = addBox(node, 0, drawnWidth, row);
			box.classList.add('above');
			fragment.append(box);
		});
		return above.length + drawFrom(fragment, zoomed, above.length, scaleOf(zoomed), 1, true);
	}

	function draw() {
		const fragment = document.createDocumentFragment();
		drawnWidth = Math.max(scroller.clientWidth, 200);
		boxes = new Map();
		const rows = sandwich ? drawSandwich(fragment) : drawZoomed(fragment);
		graph.replaceChildren(fragment);
		graph.style.height = rows * ROW + 'px';
		boxes.get((sandwich ? sandwich.callees : zoomed).number).box.setAttribute('tabindex', '0');
		zoomOut.disabled = !sandwich && zoomed === view.root;
		tip.hidden = true;
	}

	function focusBox(found) {
		if (!found)
			return;
		for (const other of graph.querySelectorAll('[tabindex="0"]'))
			other.setAttribute('tabindex', '-1');
		found.box.setAttribute('tabindex', '0');
		found.box.focus({ preventScroll: true });
		found.box.scrollIntoView({ block: 'nearest', inline: 'nearest' });
	}

	function zoom(node) {
		if (sandwich) {
			lookAt(node);
			return;
		}
		zoomed = node;
		draw();
		describe(node);
		focusBox(boxes.get(node.number));
	}

	// ---- callers and callees

	function sandwichNote(node) {
		const note = document.getElementById('sandwich-note');
		note.hidden = !sandwich;
		if (sandwich)
			note.replaceChildren(tree.measures ? 'Holders of ' : 'Callers of ', element('strong', {}, labelOf(node)), ' above it, ',
				tree.measures ? 'what it holds' : 'callees', ' below. Click a frame to see its own; Escape goes back.');
	}

	function lookAt(node) {
		if (frameOf(node) === ROOT || frameOf(node) === REST)
			return;
		const found = view.around(node.key);
		if (!found.callees.members.length)
			return;
		sandwich = found;
		sandwichNote(found.callees);
		draw();
		describe(found.callees);
		focusBox(boxes.get(found.callees.number));
	}

	function leaveSandwich() {
		sandwich = null;
		sandwichNote(null);
		draw();
		describe(zoomed);
		focusBox(boxes.get(zoomed.number));
	}

	function lookAround(match) {
		const id = model.frame.findIndex((frame, i) => frame >= 0 && model.total[i] > 0 && match(tree.frames[frame]));
		if (id < 0)
			return;
		reveal('flame');
		setOption('lines', false);
		lookAt({ key: view.keyOf(id), id });
	}

	function stepOut() {
		if (sandwich)
			leaveSandwich();
		else
			zoom(zoomed.parent || view.root);
	}

	// ---- keys

	function beside(found, step) {
		const row = [...boxes.values()].filter(other => other.row === found.row).sort((a, b) => a.left - b.left);
		return row[row.indexOf(found) + step];
	}

	// Towards the callees or, above the function of a sandwich, towards its callers.
	function deeper(found) {
		return view.childrenOf(found.node).map(child => boxes.get(child.number)).filter(Boolean)
			.sort((a, b) => widthOf(b.node) - widthOf(a.node))[0];
	}

	function shallower(found) {
		const parent = found.node.parent;
		return parent && (boxes.get(parent.number) || sandwich && boxes.get(sandwich.callees.number));
	}

	function move(found, key) {
		const upwards = sandwich && found.row < boxes.get(sandwich.callees.number).row;
		switch (key) {
		case 'ArrowDown':
			return upwards ? shallower(found) : deeper(found);
		case 'ArrowUp':
			if (sandwich && found.node === sandwich.callees)
				return deeper({ node: sandwich.callers });
			return upwards ? deeper(found) : shallower(found);
		case 'ArrowLeft':
			return beside(found, -1);
		case 'ArrowRight':
			return beside(found, 1);
		case 'Home':
			return boxes.get((sandwich ? sandwich.callees : view.root).number);
		}
		return undefined;
	}

	function foundAt(event) {
		const box = event.target.closest('.box');
		return box ? boxes.get(Number(box.dataset.node)) : undefined;
	}

	function onGraphKey(event) {
		const found = foundAt(event);
		if (!found || event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (event.key === 'Enter' || event.key === ' ') {
			zoom(found.node);
		} else if (event.key === 'Escape') {
			stepOut();
		} else if (event.key === 'c') {
			lookAt(found.node);
		} else {
			const next = move(found, event.key);
			if (next === undefined && !event.key.startsWith('Arrow'))
				return;
			focusBox(next);
		}
		event.preventDefault();
	}

	// ---- search

	function search(text) {
		const wanted = text.trim().toLowerCase();
		const found = document.getElementById('found');

		hits = null;
		found.textContent = '';
		if (wanted) {
			let time = 0, count = 0, coveredUntil = 0;
			hits = tree.frames.map(frame =>
				frame[1].toLowerCase().includes(wanted) || frame[2].toLowerCase().includes(wanted));
			for (let id = 0; id < model.frame.length; id++) {
				if (model.frame[id] < 0 || !hits[model.frame[id]] || !model.total[id])
					continue; // nothing in the range
				count++;
				if (id >= coveredUntil) {
					time += model.total[id];
					coveredUntil = model.end[id];
				}
			}
			found.textContent = count ? percent(time, model.total[0]) + ' of the ' + (isWaiting() ? 'waiting' : measure().title) + ', ' + count +
				(count === 1 ? ' frame' : ' frames') : 'Nothing found';
		}
		for (const { node, box } of boxes.values())
			markBox(box, node);
	}

	// ---- what is shown

	// The node at the same place as one of another view, as far as there is one.
	function sameNode(node) {
		const path = [];
		for (let at = node; at && at.parent; at = at.parent)
			path.unshift(at.key);
		let found = view.root;
		for (const key of path) {
			const next = view.childrenOf(found).find(child => child.key === key && child.total > 0);
			if (!next)
				break;
			found = next;
		}
		return found;
	}

	// kept: the keys of its nodes mean what they meant before.
	function makeAnew(kept) {
		const last = zoomed, function_ = sandwich && sandwich.callees;
		view = makeView(model, tree, options);
		zoomed = kept && last ? sameNode(last) : view.root;
		sandwich = null;
		if (kept && function_) {
			const found = view.around(function_.key);
			sandwich = found.callees.members.length ? found : null;
		}
		sandwichNote(sandwich && sandwich.callees);
		draw();
		describe(sandwich ? sandwich.callees : zoomed);
	}

	function chooseThread(number) {
		thread = number;
		document.getElementById('one-thread').value = number;
	}

	function startThreads() {
		const THREADS_MAX = 100;
		const choice = document.getElementById('one-thread');
		const shownThreads = new Set(tree.stacks ? tree.stacks.thread : []);

		if (shownThreads.size < 2 || tree.before)
			return;
		choice.append(element('option', { value: '' }, 'all'), ...[...shownThreads].sort((a, b) => a - b)
			.filter(number => report.threads[number]).slice(0, THREADS_MAX)
			.map(number => element('option', { value: number }, threadLabel(report.threads[number]))));
		choice.parentElement.hidden = false;
		choice.addEventListener('change', function () {
			thread = choice.value;
			if (thread !== '')
				chooseWeight('');
			showTimes();
		});
	}

	// What the frames' widths are.
	function showTimes() {
		weigh(isWaiting() ? waitsByNode(report, tree, weight) : thread !== '' ? threadByNode(tree, Number(thread)) : measure().times || times);
		if (tree.measures && tree.before)
			[model.selfBefore, model.before] = sumUpTimes(model, measure().before);
		graph.setAttribute('aria-label', 'Call tree by ' + (isWaiting() ? 'time asleep' : measure().title));
		makeAnew(true);
		search(document.getElementById('search').value);
	}

	function chooseWeight(kind) {
		weight = kind;
		document.getElementById('weight').value = kind;
		document.getElementById('weight-note').hidden = !isWaiting();
	}

	function startWeights() {
		const kinds = tree.waiting && !tree.before ? waitKinds(report) : [];
		const choice = document.getElementById('weight');

		if (!kinds.length && !tree.before && !tree.measures)
			return;
		if (!tree.measures)
			choice.append(element('option', { value: '' }, tree.before ? 'widths of now' : CPU_TIME.title));
		if (tree.measures)
			choice.append(...tree.measures.map(one => element('option', { value: one.name }, one.title)));
		else if (tree.before)
			choice.append(element('option', { value: 'before' }, 'widths of before'));
		else
			choice.append(element('option', { value: 'all' }, 'Waiting, all kinds'),
				...kinds.map(kind => element('option', { value: kind }, 'Waiting: ' + WAIT_TITLES[kind])));
		choice.parentElement.hidden = false;
		choice.addEventListener('change', function () {
			chooseWeight(choice.value);
			if (isWaiting())
				chooseThread('');
			showTimes();
		});
	}

	function setOption(name, value) {
		if (options[name] === value)
			return;
		options[name] = value;
		document.getElementById('direction').value = options.up ? 'up' : 'down';
		document.getElementById('grouping').value = options.lines ? 'line' : 'function';
		document.getElementById('native-frames').checked = options.native;
		document.getElementById('start-frames').checked = options.start;
		makeAnew(false);
	}

	function startSwitches() {
		const kinds = new Set(tree.frames.map(frame => frame[0]));
		const switches = [['direction', 'up', box => box.value === 'up'], ['grouping', 'lines', box => box.value === 'line'],
			['native-frames', 'native', box => box.checked], ['start-frames', 'start', box => box.checked]];
		for (const [id, name, read] of switches) {
			const box = document.getElementById(id);
			box.addEventListener('change', () => setOption(name, read(box)));
		}
		document.getElementById('native-frames').parentElement.hidden = !kinds.has(1) && !kinds.has(KERNEL);
		document.getElementById('start-frames').parentElement.hidden = !view.folds;
		// A tree of two profiles is by function: edits move lines. Other frames have no lines.
		document.getElementById('grouping').parentElement.hidden = Boolean(tree.before || tree.measures);
		document.getElementById('changes-legend').hidden = !tree.before;
		document.getElementById('kinds').hidden = Boolean(tree.before || tree.measures);
		graph.classList.toggle('compared', Boolean(tree.before));
	}

	function startPointer() {
		let last = null;

		function onNode(event) {
			const found = foundAt(event);
			if (found && found.node !== last)
				describe(found.node);
			last = found ? found.node : null;
			if (found && event.type === 'mousemove')
				showTip(event, found.node);
			else if (!found)
				tip.hidden = true;
		}
		graph.addEventListener('click', event => foundAt(event) && zoom(foundAt(event).node));
		graph.addEventListener('mouseover', onNode);
		graph.addEventListener('mousemove', onNode);
		graph.addEventListener('mouseleave', () => tip.hidden = true);
		scroller.addEventListener('scroll', () => tip.hidden = true);
	}

	function startGraph() {
		const field = document.getElementById('search');
		let again = 0;

		weigh(tree);
		if (tree.before)
			[model.selfBefore, model.before] = sumUpTimes(model, tree.before);
		makeAnew(false);
		graph.addEventListener('keydown', onGraphKey);
		graph.addEventListener('focusin', event => foundAt(event) && describe(foundAt(event).node));
		startPointer();
		zoomOut.addEventListener('click', stepOut);
		document.getElementById('sandwich').addEventListener('click', function () {
			const at = graph.querySelector('[tabindex="0"]');
			lookAt(boxes.get(Number(at.dataset.node)).node);
		});
		field.addEventListener('input', () => search(field.value));
		document.addEventListener('tabshown', () => scroller.clientWidth && scroller.clientWidth !== drawnWidth && draw());
		window.addEventListener('resize', function () {
			window.clearTimeout(again);
			again = window.setTimeout(() => scroller.clientWidth && scroller.clientWidth !== drawnWidth && draw(), 100);
		});
	}

	startGraph();
	startSwitches();
	startWeights();
	startThreads();
	return {
		model,
		weigh,
		lookAround,
		show: function (shownTimes, isOfRange) {
			times = shownTimes;
			ofRange = isOfRange;
			// Waiting is known of the whole run alone.
			if (ofRange) {
				chooseWeight('');
				chooseThread('');
			}
			showTimes();
		},
	};
}
