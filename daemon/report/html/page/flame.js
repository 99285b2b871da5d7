// SPDX-License-Identifier: Apache-2.0
// The flame graph: the tree drawn as boxes, zoomed, searched, by CPU time or by waiting.

const ROW = 24; // pixels
const WIDTH_MIN = 2; // of a frame, in pixels
const LABEL_WIDTH_MIN = 28;
const BOXES_MAX = 6000;
const SYSTEM = -1; // frames that are not in the tree's table
const ROOT = -2;

// The graph of the whole run. model: the tree as it is drawn; weigh(times) gives its frames their
// time; show(times, ofRange) draws those of the run or of a part of it.
function startFlame(report, tree) {
	// The tree in preorder with a root for all, and time in the kernel as frames of its own.
	function makeModel() {
		const model = { frame: [ROOT], depth: [0], parent: [-1], self: [], total: [], end: [], node: [] };
		const ancestors = [0];

		function add(frame, depth) {
			const id = model.frame.length;
			model.frame.push(frame);
			model.depth.push(depth);
			model.parent.push(ancestors[depth - 1]);
			ancestors[depth] = id;
			return id;
		}
		for (let i = 0; i < tree.depth.length; i++) {
			const depth = tree.depth[i] + 1;
			model.node.push(add(tree.frame[i], depth));
			if (tree.system[i] > 0)
				add(SYSTEM, depth + 1);
		}
		const count = model.frame.length;
		model.end = new Array(count).fill(0);
		for (let id = count - 1; id >= 0; id--) {
			model.end[id] = Math.max(model.end[id], id + 1);
			if (id > 0)
				model.end[model.parent[id]] = Math.max(model.end[model.parent[id]], model.end[id]);
		}
		return model;
	}

	// Time asleep by node, as weigh() takes it: of one kind, or of all.
	function waitsOf(kind) {
		const none = new Array(tree.depth.length).fill(0);
		const sums = none.slice();
		for (const name of kind === 'all' ? waitKinds(report) : [kind])
			tree.waiting[name].forEach((ns, i) => sums[i] += ns);
		return { python: sums, native: none, system: none };
	}

	// Gives every frame of the model its time, from that of the tree's nodes by kind.
	function weigh(times) {
		const count = model.frame.length;
		model.self = new Array(count).fill(0);
		for (let i = 0; i < model.node.length; i++) {
			const id = model.node[i];
			model.self[id] += times.python[i] + times.native[i];
			if (times.system[i] > 0)
				model.self[model.frame[id + 1] === SYSTEM ? id + 1 : id] += times.system[i];
		}
		model.total = model.self.slice();
		for (let id = count - 1; id > 0; id--)
			model.total[model.parent[id]] += model.total[id];
	}

	function shareOfGraph(ns) {
		return percent(ns, model.total[0]);
	}

	const model = makeModel();
	const graph = document.getElementById('graph');
	const scroller = document.getElementById('graph-scroll');
	const detail = document.getElementById('frame');
	const zoomOut = document.getElementById('zoom-out');
	const sources = new Map(report.lines.map(line => [line.file + '\n' + line.line, line.source]));
	let times = tree; // that the frames' widths are made of: of the run, or of a part of it
	let ofRange = false;
	let zoomed = 0;
	let waits = null; // the kind of waiting that is shown in place of CPU time
	let matches = null; // by node, while something is searched for
	let boxes = new Map(); // by node
	let drawnWidth = 0;

	function frameName(id) {
		const frame = model.frame[id];
		return frame === ROOT ? 'all' : frame === SYSTEM ? '[system]' : shown(tree.frames[frame][1]);
	}

	function frameKind(id) {
		const frame = model.frame[id];
		return frame === ROOT ? 'root' : frame === SYSTEM ? 'system' : ['python', 'native', 'process'][tree.frames[frame][0]];
	}

	function frameWhere(id) {
		const frame = model.frame[id];
		return frame < 0 || frameKind(id) === 'process' ? '' : place(tree.frames[frame][2], tree.frames[frame][3]);
	}

	function labelOf(id) {
		const frame = model.frame[id];
		if (frame < 0 || tree.frames[frame][0])
			return frameName(id);
		return frameName(id) + ' (' + place(lastComponent(tree.frames[frame][2]), tree.frames[frame][3]) + ')';
	}

	function describe(id) {
		const kind = frameKind(id);
		const words = { root: waits ? 'All time asleep' : ofRange ? 'CPU time of the range' : 'All of the CPU time',
			python: 'Python', native: 'Native', system: 'System', process: 'Process' };
		const source = model.frame[id] >= 0 &&
			sources.get(tree.frames[model.frame[id]][2] + '\n' + tree.frames[model.frame[id]][3]);

		detail.replaceChildren(
			element('strong', {}, labelOf(id)), ' ',
			words[kind] + ', ' + shareOfGraph(model.total[id]) + ' (' + duration(model.total[id]) + '), of its own ' +
				shareOfGraph(model.self[id]),
			element('br'), element('span', { class: 'where' }, frameWhere(id)));
		if (kind === 'python' && source)
			detail.append(element('code', { class: 'source' }, shown(source)));
	}

	function addBox(id, left, width, row, graphWidth) {
		const box = element('div', {
			class: 'box ' + frameKind(id),
			role: 'treeitem',
			tabindex: '-1',
			'data-node': id,
			'aria-level': row + 1,
			'aria-label': labelOf(id) + ', ' + frameKind(id) + ', ' + shareOfGraph(model.total[id]),
		});
		box.style.left = left / graphWidth * 100 + '%';
		box.style.width = width / graphWidth * 100 + '%';
		box.style.top = row * ROW + 'px';
		if (width >= LABEL_WIDTH_MIN)
			box.textContent = labelOf(id);
		else
			box.classList.add('narrow');
		if (matches)
			box.classList.add(matches[id] ? 'match' : 'dim');
		boxes.set(id, box);
		return box;
	}

	function draw() {
		const width = drawnWidth = Math.max(scroller.clientWidth, 200);
		const fragment = document.createDocumentFragment();
		const above = [];
		let rows = 0;

		boxes = new Map();
		for (let id = model.parent[zoomed]; id >= 0; id = model.parent[id])
			above.unshift(id);
		above.forEach(function (id, row) {
			const box = addBox(id, 0, width, row, width);
			box.classList.add('above');
			fragment.append(box);
		});
		const scale = model.total[zoomed] > 0 ? width / model.total[zoomed] : 0;
		const pending = [[zoomed, 0]];
		// Breadth first: what is left out of a huge tree is the deepest.
		for (let at = 0; at < pending.length && boxes.size < BOXES_MAX; at++) {
			const [id, left] = pending[at];
			const row = model.depth[id];
			// A range may have no samples at all.
			fragment.append(addBox(id, left, at ? model.total[id] * scale : width, row, width));
			rows = Math.max(rows, row + 1);
			let childLeft = left;
			for (let child = id + 1; child < model.end[id]; child = model.end[child]) {
				const childWidth = model.total[child] * scale;
				if (childWidth >= WIDTH_MIN)
					pending.push([child, childLeft]);
				childLeft += childWidth;
			}
		}
		graph.replaceChildren(fragment);
		graph.style.height = Math.max(rows, above.length + 1) * ROW + 'px';
		boxes.get(zoomed).setAttribute('tabindex', '0');
		zoomOut.disabled = zoomed === 0;
	}

	function focusBox(id) {
		const box = boxes.get(id);
		if (!box)
			return;
		for (const other of graph.querySelectorAll('[tabindex="0"]'))
			other.setAttribute('tabindex', '-1');
		box.setAttribute('tabindex', '0');
		box.focus({ preventScroll: true });
		box.scrollIntoView({ block: 'nearest', inline: 'nearest' });
	}

	function zoom(id) {
		zoomed = id;
		draw();
		describe(id);
		focusBox(id);
	}

	function childrenOf(id) {
		const children = [];
		for (let child = id + 1; child < model.end[id]; child = model.end[child])
			if (boxes.has(child))
				children.push(child);
		return children;
	}

	// The box beside another one, in the same row.
	function beside(id, step) {
		const row = [...boxes.keys()].filter(other => model.depth[other] === model.depth[id]).sort((a, b) => a - b);
		return row[row.indexOf(id) + step];
	}

	function move(id, key) {
		switch (key) {
		case 'ArrowDown':
			return childrenOf(id).sort((a, b) => model.total[b] - model.total[a])[0];
		case 'ArrowUp':
			return model.parent[id];
		case 'ArrowLeft':
			return beside(id, -1);
		case 'ArrowRight':
			return beside(id, 1);
		case 'Home':
			return 0;
		}
		return undefined;
	}

	function nodeOf(event) {
		const box = event.target.closest('.box');
		return box ? Number(box.dataset.node) : -1;
	}

	function onGraphKey(event) {
		const id = nodeOf(event);
		if (id < 0 || event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (event.key === 'Enter' || event.key === ' ') {
			zoom(id);
		} else if (event.key === 'Escape') {
			zoom(Math.max(model.parent[zoomed], 0));
		} else {
			const next = move(id, event.key);
			if (next === undefined && !event.key.startsWith('Arrow'))
				return;
			focusBox(next);
		}
		event.preventDefault();
	}

	function search(text) {
		const wanted = text.trim().toLowerCase();
		const found = document.getElementById('found');

		matches = null;
		found.textContent = '';
		if (wanted) {
			let time = 0, count = 0, coveredUntil = 0;
			const hits = tree.frames.map(frame =>
				frame[1].toLowerCase().includes(wanted) || frame[2].toLowerCase().includes(wanted));
			matches = model.frame.map(frame => frame >= 0 && hits[frame]);
			for (let id = 0; id < matches.length; id++) {
				if (!matches[id] || !model.total[id])
					continue; // nothing in the range
				count++;
				if (id >= coveredUntil) {
					time += model.total[id];
					coveredUntil = model.end[id];
				}
			}
			found.textContent = count ? shareOfGraph(time) + (waits ? ' of the waiting, ' : ' of the CPU time, ') + count +
				(count === 1 ? ' frame' : ' frames') : 'Nothing found';
		}
		for (const [id, box] of boxes) {
			box.classList.toggle('match', Boolean(matches && matches[id]));
			box.classList.toggle('dim', Boolean(matches && !matches[id]));
		}
	}

	// What the frames' widths are.
	function showTimes() {
		weigh(waits ? waitsOf(waits) : times);
		graph.setAttribute('aria-label', 'Call tree by ' + (waits ? 'time asleep' : 'CPU time'));
		while (zoomed > 0 && model.total[zoomed] === 0)
			zoomed = model.parent[zoomed];
		draw();
		describe(zoomed);
		search(document.getElementById('search').value);
	}

	function chooseWaits(kind) {
		waits = kind || null;
		document.getElementById('weight').value = kind;
		document.getElementById('weight-note').hidden = !waits;
	}

	function startWaits() {
		const kinds = waitKinds(report);
		const choice = document.getElementById('weight');

		if (!kinds.length || !tree.waiting)
			return;
		choice.append(element('option', { value: '' }, 'CPU time'), element('option', { value: 'all' }, 'Waiting, all kinds'),
			...kinds.map(kind => element('option', { value: kind }, 'Waiting: ' + WAIT_TITLES[kind])));
		choice.parentElement.hidden = false;
		choice.addEventListener('change', function () {
			chooseWaits(choice.value);
			showTimes();
		});
	}

	function startGraph() {
		const field = document.getElementById('search');
		let again = 0;

		weigh(tree);
		draw();
		describe(0);
		graph.addEventListener('click', event => nodeOf(event) >= 0 && zoom(nodeOf(event)));
		graph.addEventListener('keydown', onGraphKey);
		graph.addEventListener('focusin', event => nodeOf(event) >= 0 && describe(nodeOf(event)));
		graph.addEventListener('mouseover', event => nodeOf(event) >= 0 && describe(nodeOf(event)));
		zoomOut.addEventListener('click', function () {
			zoomed = Math.max(model.parent[zoomed], 0);
			draw();
			describe(zoomed);
		});
		field.addEventListener('input', () => search(field.value));
		window.addEventListener('resize', function () {
			window.clearTimeout(again);
			again = window.setTimeout(() => scroller.clientWidth !== drawnWidth && draw(), 100);
		});
	}

	startGraph();
	startWaits();
	return {
		model,
		weigh,
		show: function (shownTimes, isOfRange) {
			times = shownTimes;
			ofRange = isOfRange;
			// Waiting is known of the whole run alone.
			if (ofRange)
				chooseWaits('');
			showTimes();
		},
	};
}
