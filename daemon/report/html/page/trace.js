// SPDX-License-Identifier: Apache-2.0
// The page of a trace: its timeline, of the data of trace_html_data.h, by pointer, buttons and keys.

function startTrace(data) {
	const ROW_HEIGHTS = [[40, 26], [100, 16], [Infinity, 12]];
	const SPAN_MIN = 200; // ns: the nearest look
	const model = traceModel(data);
	const picture = document.getElementById('lane-picture');
	const canvas = document.getElementById('lane-canvas');
	const names = document.getElementById('lane-names');
	const messages = document.getElementById('show-messages');
	const late = document.getElementById('only-late');
	const rowHeight = ROW_HEIGHTS.find(([most]) => model.rows.length <= most)[1];
	let view = [0, model.length];
	let chosen = {}, row = 0, waiting = 0;

	// ---- words

	// As exact as the part that is shown asks for.
	function moment(ns) {
		const shownTime = view[1] - view[0];
		const [unit, size] = shownTime >= 2e9 ? ['s', 1e9] : shownTime >= 2e6 ? ['ms', 1e6] : ['us', 1e3];
		const digits = Math.min(Math.max(Math.ceil(-Math.log10(shownTime / size / 1000)), 0), 6);
		return (ns / size).toFixed(digits) + ' ' + unit;
	}

	function rowWords(number) {
		const [name, thread] = model.rows[number].names;
		return name + (thread ? ', thread ' + thread : '');
	}

	function callWords(call) {
		return rowWords(row) + ': ' + shown(call.name) + ' from ' + moment(call.begin) + ', for ' + duration(call.ns) +
			(call.peer >= 0 ? ', with rank ' + call.peer : '') + (call.tag >= 0 ? ', tag ' + call.tag : '') +
			(call.bytes ? ', ' + bytesText(call.bytes) : '') + (call.path ? ', at ' + shown(call.path) : '');
	}

	function messageWords(message) {
		return 'Message from ' + rowWords(message.from) + ' to ' + rowWords(message.to) + ': sent at ' + moment(message.begin) +
			', received after ' + duration(message.end - message.begin) + ', tag ' + message.tag + ', ' + bytesText(message.bytes) +
			(message.late ? ', ' + duration(message.late) + ' late: the receiver waited for it' : '');
	}

	// ---- drawing

	function drawTicks(width) {
		const axis = document.getElementById('ticks');
		const length = view[1] - view[0];
		let every = 1;
		for (let i = 0; length / every * 90 > width; i++)
			every *= [2, 2.5, 2][i % 3];
		axis.replaceChildren();
		for (let at = Math.ceil(view[0] / every) * every; at < view[1] && (at - view[0]) / length * width < width - 60; at += every) {
			const tick = element('span', {}, moment(at));
			tick.style.left = (at - view[0]) / length * 100 + '%';
			axis.append(tick);
		}
	}

	function draw() {
		const width = canvas.clientWidth, height = model.rows.length * rowHeight;
		const ratio = window.devicePixelRatio || 1;
		const context = canvas.getContext('2d');

		waiting = 0;
		if (!width)
			return;
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		context.scale(ratio, ratio);
		const [found, drawn] = drawTrace(context, model, {
			from: view[0], to: view[1], width, height, rowHeight, messages: messages.checked, onlyLate: late.checked, chosen, row,
		});
		drawTicks(width);
		document.getElementById('view').textContent = 'Shown: ' + moment(view[0]) + ' to ' + moment(view[1]) + ' of ' + duration(model.length) +
			(messages.checked && model.messages.length ? ', ' + found + (found === 1 ? ' message' : ' messages') +
			(drawn < found ? ', of which ' + drawn + ' are drawn' : '') : '') + '.';
		names.querySelectorAll('li').forEach((item, i) => item.classList.toggle('chosen', i === row));
	}

	// Once for however many events there were.
	function redraw() {
		if (!waiting)
			waiting = window.requestAnimationFrame(draw);
	}

	// ---- the part that is shown

	function show(from, to) {
		const length = Math.min(Math.max(to - from, SPAN_MIN), model.length);
		const begin = Math.min(Math.max(from, 0), model.length - length);
		view = [begin, begin + length];
		redraw();
	}

	function zoom(factor, around = (view[0] + view[1]) / 2) {
		show(around - (around - view[0]) * factor, around + (view[1] - around) * factor);
	}

	function pan(share) {
		const by = (view[1] - view[0]) * share;
		show(view[0] + by, view[1] + by);
	}

	function choose(what, words) {
		const thing = what.call || what.message;
		chosen = what;
		document.getElementById('chosen-event').textContent = words;
		if (thing && (thing.end < view[0] || thing.begin > view[1])) {
			const half = (view[1] - view[0]) / 2;
			show(thing.begin - half, thing.begin + half);
		}
		redraw();
	}

	// The next one of the row, or the one before; the first in what is shown where none is chosen.
	function step(list, member, by, words) {
		const at = list.indexOf(chosen[member]);
		const next = at >= 0 ? at + by : list.findIndex(thing => thing.end >= view[0]);
		const thing = list[Math.min(Math.max(next, 0), list.length - 1)];
		if (thing)
			choose({ [member]: thing }, words(thing));
		else
			choose({}, rowWords(row) + ' has none');
	}

	function chooseRow(number) {
		row = Math.min(Math.max(number, 0), model.rows.length - 1);
		choose({}, rowWords(row) + ': ' + model.rows[row].calls.length + ' calls, ' + model.rows[row].messages.length + ' messages drawn');
	}

	// ---- pointer and keys

	function timeAt(event) {
		const box = canvas.getBoundingClientRect();
		return view[0] + (event.clientX - box.left) / box.width * (view[1] - view[0]);
	}

	function chooseAt(event) {
		const box = canvas.getBoundingClientRect();
		const at = timeAt(event), near = 2 / box.width * (view[1] - view[0]);
		const high = event.clientY - box.top;
		row = Math.min(Math.max(Math.floor(high / rowHeight), 0), model.rows.length - 1);
		const below = model.spans && high % rowHeight > rowHeight * 0.65;
		const found = [...traceBetween(model.rows[row].calls, model.rows[row].reach, at - near, at + near)]
			.filter(call => below === (call.state === 'span' || call.state === 'off'));
		const call = found[found.length - 1];
		const message = call && call.ns > 2 * near ? null : messageAt(at, high, near);
		if (message)
			choose({ message }, messageWords(message));
		else if (call)
			choose({ call }, callWords(call));
		else
			choose({}, rowWords(row) + ' is outside of MPI at ' + moment(at));
	}

	function messageAt(at, high, near) {
		const where = high / rowHeight - 0.5;
		for (const message of messages.checked ? traceBetween(model.messages, model.reach, at - near, at + near) : []) {
			if (late.checked && !message.late)
				continue;
			const part = message.end > message.begin ? (at - message.begin) / (message.end - message.begin) : 0;
			const there = message.from + (message.to - message.from) * Math.min(Math.max(part, 0), 1);
			const vertical = message.end - message.begin < 2 * near && where >= Math.min(message.from, message.to) &&
				where <= Math.max(message.from, message.to);
			if (vertical || Math.abs(there - where) * rowHeight < 4)
				return message;
		}
		return null;
	}

	function startPointer() {
		let start = null;

		canvas.addEventListener('pointerdown', function (event) {
			if (event.button !== 0)
				return;
			start = { x: event.clientX, view: view.slice(), moved: false };
			canvas.setPointerCapture(event.pointerId);
		});
		canvas.addEventListener('pointermove', function (event) {
			if (!start)
				return;
			start.moved = start.moved || Math.abs(event.clientX - start.x) > 3;
			if (start.moved) {
				const by = (start.x - event.clientX) / canvas.clientWidth * (start.view[1] - start.view[0]);
				show(start.view[0] + by, start.view[1] + by);
			}
		});
		canvas.addEventListener('pointerup', function (event) {
			if (start && !start.moved)
				chooseAt(event);
			start = null;
		});
		canvas.addEventListener('pointercancel', () => start = null);
		canvas.addEventListener('wheel', function (event) {
			if (!event.ctrlKey && !event.shiftKey)
				return;
			event.preventDefault();
			// With Shift some browsers turn it aside.
			zoom(Math.exp(Math.sign(event.deltaY || event.deltaX) * 0.25), timeAt(event));
		}, { passive: false });
	}

	function startKeys() {
		const stepCalls = by => step(model.rows[row].calls, 'call', by, callWords);
		const actions = {
			ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25), '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2),
			0: () => show(0, model.length), Home: () => show(0, view[1] - view[0]),
			End: () => show(model.length - (view[1] - view[0]), model.length),
			ArrowUp: () => chooseRow(row - 1), ArrowDown: () => chooseRow(row + 1),
			n: () => stepCalls(1), p: () => stepCalls(-1),
			m: () => step(model.rows[row].messages, 'message', 1, messageWords),
		};
		picture.addEventListener('keydown', function (event) {
			if (event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(actions, event.key))
				return;
			event.preventDefault();
			actions[event.key]();
		});
	}

	function startControls() {
		const buttons = { 'zoom-in': () => zoom(0.5), 'zoom-out': () => zoom(2), earlier: () => pan(-0.5), later: () => pan(0.5),
			whole: () => show(0, model.length) };
		for (const [id, action] of Object.entries(buttons))
			document.getElementById(id).addEventListener('click', action);
		messages.addEventListener('change', redraw);
		late.addEventListener('change', redraw);
		messages.parentElement.hidden = !model.messages.length;
		late.parentElement.hidden = !model.messages.some(message => message.late);
	}

	// ---- the page

	function makeLegend() {
		const list = document.getElementById('states');
		list.replaceChildren(...model.states.map(function (state) {
			const swatch = element('canvas', { class: 'swatch', width: 28, height: 16, 'aria-hidden': 'true' });
			const context = swatch.getContext('2d');
			context.fillStyle = traceFills(context)[state];
			context.fillRect(0, 0, 28, 16);
			return element('li', {}, swatch, TRACE_TITLES[state]);
		}));
		if (model.messages.length)
			list.append(element('li', {}, element('span', { class: 'swatch line', 'aria-hidden': 'true' }), 'message'));
		if (model.messages.some(message => message.late))
			list.append(element('li', {}, element('span', { class: 'swatch line late', 'aria-hidden': 'true' }),
				'message that its receiver waited for'));
	}

	function makeNames() {
		names.replaceChildren(...model.rows.map(function (unused, i) {
			const item = element('li', { title: shown(model.rows[i].names[2]) }, rowWords(i));
			item.style.height = item.style.lineHeight = rowHeight + 'px';
			item.style.fontSize = Math.min(rowHeight - 2, 13) + 'px';
			return item;
		}));
	}

	function sayLeftOut() {
		const words = [];
		const note = document.getElementById('left-out');
		if (data.calls_left_out)
			words.push(data.calls_left_out + ' calls, the shortest, are not drawn one by one: those of the rows are the grey behind the others, ' +
				'as high as their share of the time');
		if (data.messages_left_out)
			words.push(data.messages_left_out + ' messages, of those that nobody waited for longest, are not drawn');
		if (data.rows_left_out)
			words.push(data.rows_left_out + ' threads have no row');
		note.textContent = words.join('; ') + '. The tables and the text have all of them.';
		note.hidden = !words.length;
	}

	if (!model.rows.length) {
		document.getElementById('timeline').replaceChildren(element('p', {}, 'Nothing was traced.'));
		return;
	}
	makeLegend();
	makeNames();
	sayLeftOut();
	canvas.style.height = model.rows.length * rowHeight + 'px';
	startPointer();
	startKeys();
	startControls();
	draw();
	document.addEventListener('tabshown', redraw);
	window.addEventListener('resize', redraw);
	window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', function () {
		makeLegend();
		redraw();
	});
}

async function startPage() {
	const data = await readData('trace-data');

	for (const part of document.querySelectorAll('.script'))
		part.hidden = false;
	startTabs();
	startTrace(data);
}

startPage().catch(function (error) {
	const problem = document.getElementById('problem');
	problem.textContent = 'The data of this page cannot be read by this browser: ' + error.message;
	problem.hidden = false;
});
