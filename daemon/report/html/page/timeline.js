// SPDX-License-Identifier: Apache-2.0
// Threads over time: a strip for all of them, by kind of time, above a heat map
// with a row for each, and the choice of a range by pointer or by two sliders.
// The sliders are what a keyboard and a screen reader use; the table has the figures.

// onRange(null, or {from, to} in ns) when another part of the run is to be shown; null: that cannot be chosen.
function startTimeline(report, tree, onRange) {
	const THREADS_MAX = 50; // rows; the rest is one more
	const STRIP_HEIGHT = 48;
	const ROW_HEIGHT = 20;
	const COLUMN_WIDTH_MIN = 3;
	const SAMPLES_MIN = 8; // of a busy thread in a column: fewer say little
	const nativeKnown = report.native_known !== false; // else both are in the first kind
	const KINDS = nativeKnown ? ['python', 'native', 'system'] : ['python', 'system'];
	const TITLES = { python: nativeKnown ? 'Python' : 'User', native: 'Native', system: 'System' };

	const gilKnown = report.gil_ns !== null;
	const timeline = report.timeline;
	const sliceTime = timeline.slice_ns;
	// The steps of a range: slices for which there is a flame graph.
	const step = tree.slices.node.length ? tree.slice_ns : sliceTime;
	// The last slice may end behind the run.
	const runTime = Math.max((timeline.slices - 1) * sliceTime + 1, report.duration_ns);
	const steps = Math.max(Math.ceil(runTime / step - 0.01), 1);
	const canvas = document.getElementById('heat');
	const chosen = document.getElementById('chosen');
	const moment = document.getElementById('moment');
	const sliders = [document.getElementById('range-from'), document.getElementById('range-to')];
	const body = element('tbody');
	const rows = makeRows();
	const shares = []; // where each row's share is shown
	let columns = null;
	let range = [0, steps];
	let announced = 0;

	// ---- data

	function makeRow(threads, name) {
		const row = { name: name, threads: threads };
		for (const kind of KINDS) {
			row[kind] = new Array(timeline.slices).fill(0);
			for (const thread of threads)
				thread.slice.forEach((slice, i) => row[kind][slice] += thread[kind + '_ns'][i]);
		if (!nativeKnown)
			for (const thread of threads)
				thread.slice.forEach((slice, i) => row.python[slice] += thread.native_ns[i]);
		}
		return row;
	}

	// Those with most time; the threads of a process are together.
	function makeRows() {
		const place = new Map((report.processes || []).map((process, i) => [process.pid, i]));
		// Others only slept: see waiting.js.
		const busy = timeline.threads.filter((thread, i) => selfTime(report.threads[i]) > 0);
		const made = busy.slice(0, THREADS_MAX).map(function (thread, i) {
			const row = makeRow([thread], threadLabel(report.threads[i]));
			row.gil = report.threads[i].gil_ns;
			row.place = place.get(report.threads[i].pid) || 0;
			return row;
		}).sort((a, b) => a.place - b.place);
		const others = busy.slice(THREADS_MAX);
		if (others.length)
			made.push(makeRow(others, others.length + ' other threads'));
		return made;
	}

	function sum(values, from, to) {
		let total = 0;
		for (let i = from; i < Math.min(to, values.length); i++)
			total += values[i];
		return total;
	}

	// A row's time by kind, of the steps from one to another.
	function timesOf(row, from, to) {
		const first = Math.round(from * step / sliceTime);
		const end = to < steps ? Math.round(to * step / sliceTime) : timeline.slices;
		const times = {};
		for (const kind of KINDS)
			times[kind] = sum(row[kind], first, end);
		times.all = KINDS.reduce((total, kind) => total + times[kind], 0);
		return times;
	}

	// As many slices to a column as leave it wide enough to be seen, and samples enough to say something.
	function makeColumns(width) {
		let slices = 1;
		while (timeline.slices / slices * COLUMN_WIDTH_MIN > width || slices * sliceTime < SAMPLES_MIN * report.period_ns)
			slices *= 2;
		const made = { time: slices * sliceTime, count: Math.ceil(timeline.slices / slices), rows: [], most: 0 };
		made.all = [];
		for (let i = 0; i < made.count; i++) {
			const all = {};
			for (const kind of KINDS)
				all[kind] = rows.reduce((total, row) => total + sum(row[kind], i * slices, (i + 1) * slices), 0) / made.time;
			made.all.push(all);
			made.most = Math.max(made.most, KINDS.reduce((total, kind) => total + all[kind], 0));
		}
		// A sample stands for the time before it: what ended in a column may have begun before that.
		if (tree.processors)
			made.most = Math.min(made.most, tree.processors);
		made.rows = rows.map(row => made.all.map((unused, i) =>
			KINDS.reduce((total, kind) => total + sum(row[kind], i * slices, (i + 1) * slices), 0) / made.time));
		return made;
	}

	// ---- drawing

	function seconds(ns) {
		return (ns / 1e9).toFixed(runTime < 10e9 ? 2 : runTime < 100e9 ? 1 : 0) + ' s';
	}

	// The flame graph's patterns, so that kinds are told apart without colour.
	function makeFill(context, style, kind) {
		const tile = document.createElement('canvas');
		tile.width = tile.height = 6;
		const brush = tile.getContext('2d');
		brush.fillStyle = style.getPropertyValue('--strip-' + kind);
		brush.fillRect(0, 0, 6, 6);
		brush.fillStyle = style.getPropertyValue('--page');
		brush.globalAlpha = 0.45;
		if (kind === 'native')
			for (let i = 0; i < 6; i++)
				brush.fillRect(i, 5 - i, 2, 1);
		if (kind === 'system')
			brush.fillRect(1, 1, 2, 2);
		return context.createPattern(tile, 'repeat');
	}

	function drawStrip(context, style, width) {
		const fills = KINDS.map(kind => makeFill(context, style, kind));
		const busiest = Math.max(...columns.all.map(all => KINDS.reduce((total, kind) => total + all[kind], 0)), 1);
		const scale = (STRIP_HEIGHT - 4) / busiest;
		const at = i => Math.round(Math.min(i * columns.time / runTime, 1) * width);

		columns.all.forEach(function (all, i) {
			let base = STRIP_HEIGHT;
			KINDS.forEach(function (kind, k) {
				const height = all[kind] * scale;
				context.fillStyle = fills[k];
				context.fillRect(at(i), base - height, at(i + 1) - at(i), height);
				base -= height;
			});
		});
	}

	function drawRows(context, style, width) {
		const at = i => Math.round(Math.min(i * columns.time / runTime, 1) * width);

		columns.rows.forEach(function (values, row) {
			const top = STRIP_HEIGHT + row * ROW_HEIGHT;
			context.globalAlpha = 1;
			context.fillStyle = style.getPropertyValue('--panel');
			context.fillRect(0, top + 1, width, ROW_HEIGHT - 2);
			context.fillStyle = style.getPropertyValue('--heat');
			values.forEach(function (value, i) {
				if (value > 0) {
					// What ran at all can be seen.
					context.globalAlpha = 0.15 + 0.85 * Math.min(value / rows[row].threads.length, 1);
					context.fillRect(at(i), top + 1, at(i + 1) - at(i), ROW_HEIGHT - 2);
				}
			});
		});
		context.globalAlpha = 1;
	}

	function draw() {
		const width = canvas.clientWidth, height = STRIP_HEIGHT + rows.length * ROW_HEIGHT;
		const ratio = window.devicePixelRatio || 1;
		const context = canvas.getContext('2d');
		const style = getComputedStyle(document.documentElement);

		if (!width)
			return;
		columns = makeColumns(width);
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		context.scale(ratio, ratio);
		drawStrip(context, style, width);
		drawRows(context, style, width);
		drawTicks(width);
		document.getElementById('processors').textContent = columns.most.toFixed(1) + ' CPU';
	}

	function drawTicks(width) {
		const axis = document.getElementById('ticks');
		let every = 1e6;
		for (let i = 0; runTime / every * 64 > width; i++)
			every *= [2, 2.5, 2][i % 3];
		axis.replaceChildren();
		for (let at = 0; at <= runTime && (at / runTime * width < width - 30 || !at); at += every) {
			const tick = element('span', {}, every < 1e9 ? (at / 1e9).toFixed(every < 1e8 ? 2 : 1) + ' s' : at / 1e9 + ' s');
			tick.style.left = at / runTime * 100 + '%';
			axis.append(tick);
		}
	}

	// ---- the range

	function isWhole() {
		return range[0] === 0 && range[1] === steps;
	}

	function inNs() {
		return isWhole() ? null : { from: range[0] * step, to: range[1] < steps ? range[1] * step : Infinity };
	}

	function rangeWords() {
		return seconds(range[0] * step) + ' to ' + seconds(Math.min(range[1] * step, runTime));
	}

	function fillTable() {
		const times = rows.map(row => timesOf(row, ...range));
		const total = times.reduce((all, row) => all + row.all, 0);

		body.replaceChildren(...rows.map((row, i) => element('tr', {},
			element('th', { scope: 'row' }, row.name),
			...['all', ...KINDS].map(kind => element('td', { class: 'number' }, percent(times[i][kind], total))),
			...(gilKnown ? [element('td', { class: 'number' },
				row.gil === undefined ? '-' : percent(row.gil, report.duration_ns))] : []))));
		shares.forEach((share, i) => share.textContent = percent(times[i].all, total));
	}

	function showRange() {
		const selection = document.getElementById('selection');
		const from = range[0] * step / runTime, to = Math.min(range[1] * step / runTime, 1);

		sliders.forEach(function (slider, i) {
			slider.value = range[i];
			slider.setAttribute('aria-valuetext', seconds(Math.min(range[i] * step, runTime)));
		});
		selection.hidden = isWhole();
		selection.style.left = from * 100 + '%';
		selection.style.width = (to - from) * 100 + '%';
		document.getElementById('range-words').textContent = isWhole() ?
			'the whole run, ' + seconds(runTime) : rangeWords();
		document.getElementById('range-bar').hidden = isWhole();
		document.getElementById('whole-run').disabled = isWhole();
		chosen.textContent = isWhole() ? '' : 'Only ' + rangeWords() + ' of ' + seconds(runTime) +
			' is shown by threads, flame graph and lines.';
	}

	// The rest of the page follows in the next frame, once for however many events there were.
	function choose(from, to) {
		const first = Math.max(0, Math.min(from, steps - 1));
		const end = Math.max(first + 1, Math.min(to, steps));
		if (first === range[0] && end === range[1])
			return;
		range = [first, end];
		showRange();
		window.cancelAnimationFrame(announced);
		announced = window.requestAnimationFrame(function () {
			fillTable();
			onRange(inNs());
		});
	}

	function stepAt(event) {
		const box = canvas.getBoundingClientRect();
		const at = Math.floor((event.clientX - box.left) / box.width * runTime / step);
		return Math.max(0, Math.min(at, steps - 1));
	}

	function describeMoment(event) {
		const box = canvas.getBoundingClientRect();
		const column = Math.floor((event.clientX - box.left) / box.width * runTime / columns.time);
		const row = Math.floor((event.clientY - box.top - STRIP_HEIGHT) / ROW_HEIGHT);
		const all = columns.all[column];

		if (!all || row >= rows.length)
			return;
		moment.textContent = seconds(column * columns.time) + ': ' + (row < 0 ?
			'all threads together, ' + KINDS.map(kind => TITLES[kind] + ' ' + percent(all[kind], 1)).join(', ') + ' of a CPU' :
			rows[row].name + ', ' + percent(columns.rows[row][column], 1) + ' of a CPU');
	}

	function startPointer() {
		let start = -1;

		canvas.addEventListener('pointerdown', function (event) {
			if (event.button !== 0)
				return;
			start = stepAt(event);
			canvas.setPointerCapture(event.pointerId);
			choose(start, start + 1);
		});
		canvas.addEventListener('pointermove', function (event) {
			const now = stepAt(event);
			if (start >= 0)
				choose(Math.min(start, now), Math.max(start, now) + 1);
			describeMoment(event);
		});
		// Cancelled when the finger scrolls the page instead.
		for (const end of ['pointerup', 'pointercancel'])
			canvas.addEventListener(end, () => start = -1);
	}

	// ---- the page

	function makeLabels() {
		document.getElementById('python-kind').textContent = nativeKnown ? 'Python' : 'User (Python or native)';
		document.getElementById('native-kind').hidden = !nativeKnown;
		const labels = document.getElementById('thread-names');
		for (const row of rows) {
			const share = element('span', { class: 'number' });
			shares.push(share);
			labels.append(element('li', {}, element('span', { class: 'name', title: row.name }, row.name), share));
		}
	}

	function makeTable() {
		const holder = document.getElementById('thread-table');
		const head = element('tr', {}, element('th', { scope: 'col' }, 'Thread'),
			...['Total', ...KINDS.map(kind => TITLES[kind])].concat(gilKnown ? ['GIL'] : []).map(title =>
				element('th', { scope: 'col', class: 'number' }, title)));
		const details = element('details', {}, element('summary', {}, 'Threads as a table'));

		holder.replaceChildren(element('table', {},
			element('caption', {}, 'Shares of the CPU time of all threads in what is shown' +
				(gilKnown ? '; GIL: for how much of the whole run the thread ran with it' : '')), element('thead', {}, head), body));
		holder.replaceWith(details);
		details.append(holder);
	}

	function startSliders() {
		sliders.forEach(function (slider, i) {
			slider.min = i;
			slider.max = steps - 1 + i;
			slider.addEventListener('input', function () {
				const value = Number(slider.value);
				choose(...(i ? [Math.min(range[0], value - 1), value] : [value, Math.max(range[1], value + 1)]));
			});
		});
		for (const button of document.querySelectorAll('.whole-run'))
			button.addEventListener('click', () => choose(0, steps));
	}

	let width = 0, again = 0;

	function redraw() {
		window.clearTimeout(again);
		again = window.setTimeout(function () {
			width = canvas.clientWidth;
			draw();
		}, 100);
	}

	if (!rows.length || !timeline.slices) {
		document.getElementById('timeline').replaceChildren(element('p', {}, 'There were no samples.'));
		return;
	}
	makeLabels();
	makeTable();
	canvas.style.height = STRIP_HEIGHT + rows.length * ROW_HEIGHT + 'px';
	if (onRange) {
		startSliders();
		startPointer();
	} else {
		document.querySelector('#timeline .controls').hidden = true;
	}
	showRange();
	fillTable();
	draw();
	document.addEventListener('tabshown', () => canvas.clientWidth && canvas.clientWidth !== width && draw());
	window.addEventListener('resize', () => canvas.clientWidth && canvas.clientWidth !== width && redraw());
	window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
}
