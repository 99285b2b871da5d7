// SPDX-License-Identifier: Apache-2.0
// The data of a trace's timeline, by row and in time, and how a part of it is drawn on a canvas.

const TRACE_STATES = ['send', 'receive', 'collective', 'other', 'span', 'off'];
const TRACE_TITLES = {
	computes: 'outside of MPI', send: 'sends', receive: 'receives or waits for requests', collective: 'in a collective operation',
	other: 'in another function of MPI', span: 'also traced', off: 'off the processor',
};
const TRACE_LINES_MAX = 3000; // messages drawn at a time

// Where things that begin in order may still go on: for each, the latest end up to there.
function makeReach(ends) {
	const reach = new Float64Array(ends.length);
	let latest = 0;
	ends.forEach(function (end, i) {
		latest = Math.max(latest, end);
		reach[i] = latest;
	});
	return reach;
}

// The first of an ascending list that is larger.
function firstAbove(values, limit) {
	let low = 0, high = values.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (values[middle] > limit)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

// Columns become lists of one row each, in order of time.
function traceModel(data) {
	const rows = data.rows.map(names => ({ names, calls: [], messages: [] }));
	const columns = data.calls;
	const lists = data.messages;

	columns.row.forEach(function (row, i) {
		const [name, state] = data.names[columns.name[i]];
		rows[row].calls.push({
			begin: columns.begin[i], ns: columns.ns[i], end: columns.begin[i] + columns.ns[i], name,
			state: TRACE_STATES[state], path: data.paths[columns.path[i]], peer: columns.peer[i], tag: columns.tag[i],
			bytes: columns.bytes[i],
		});
	});
	const messages = lists.from.map((from, i) => ({
		from, to: lists.to[i], begin: lists.sent[i], end: Math.max(lists.received[i], lists.sent[i]), tag: lists.tag[i],
		bytes: lists.bytes[i], late: lists.late[i],
	})).sort((a, b) => a.begin - b.begin);
	for (const message of messages) {
		rows[message.from].messages.push(message);
		if (message.to !== message.from)
			rows[message.to].messages.push(message);
	}
	rows.forEach(function (row, i) {
		row.calls.sort((a, b) => a.begin - b.begin || b.ns - a.ns);
		row.reach = makeReach(row.calls.map(call => call.end));
		row.bins = data.bins[i] || [];
		row.number = i;
	});
	return {
		length: Math.max(data.length, 1), judged: data.judged, rows, messages,
		reach: makeReach(messages.map(message => message.end)),
		states: ['computes', ...TRACE_STATES.filter(state => rows.some(row => row.calls.some(call => call.state === state)))],
		spans: rows.some(row => row.calls.some(call => call.state === 'span' || call.state === 'off')),
	};
}

// The items of a list in time that are in a part of it; reach is theirs.
function* traceBetween(list, reach, from, to) {
	for (let i = firstAbove(reach, from); i < list.length && list[i].begin < to; i++)
		if (list[i].end >= from)
			yield list[i];
}

// States are told apart by pattern, too.
function traceFill(context, style, state) {
	const tile = document.createElement('canvas');
	tile.width = tile.height = 8;
	const brush = tile.getContext('2d');
	brush.fillStyle = style.getPropertyValue('--state-' + state);
	brush.fillRect(0, 0, 8, 8);
	brush.fillStyle = style.getPropertyValue('--frame-text');
	brush.globalAlpha = 0.3;
	if (state === 'receive')
		for (let i = 0; i < 8; i++)
			brush.fillRect(i, 7 - i, 2, 1);
	if (state === 'collective')
		brush.fillRect(2, 2, 3, 3);
	if (state === 'send')
		brush.fillRect(0, 3, 8, 2);
	if (state === 'off')
		brush.fillRect(3, 0, 2, 8);
	return context.createPattern(tile, 'repeat');
}

function traceFills(context) {
	const style = getComputedStyle(document.documentElement);
	const fills = { text: style.getPropertyValue('--frame-text'), line: style.getPropertyValue('--muted'),
		late: style.getPropertyValue('--finding'), page: style.getPropertyValue('--page'), mark: style.getPropertyValue('--match') };
	for (const state of ['computes', ...TRACE_STATES])
		fills[state] = traceFill(context, style, state);
	return fills;
}

// look: { from, to, width, height, rowHeight, messages, onlyLate, chosen, row }. Returns how many messages are in it, and drawn.
function drawTrace(context, model, look) {
	const fills = traceFills(context);
	const scale = look.width / (look.to - look.from);
	const at = ns => (ns - look.from) * scale;
	const height = look.rowHeight;
	// Below what a thread does, what else is traced of it.
	const lane = model.spans ? Math.round((height - 2) * 0.65) : height - 2;

	function drawSlice(call, top, high, drawn) {
		const left = Math.max(at(call.begin), 0), right = Math.min(Math.max(at(call.end), at(call.begin) + 1), look.width);
		// What is within a pixel that is drawn already.
		if (right <= drawn && call.ns * scale < 1)
			return drawn;
		context.fillStyle = fills[call.state];
		context.fillRect(left, top, right - left, high);
		if (right - left > 50 && high > 12) {
			context.save();
			context.beginPath();
			context.rect(left, top, right - left, high);
			context.clip();
			context.fillStyle = fills.text;
			context.fillText(shown(call.name), left + 4, top + high / 2);
			context.restore();
		}
		if (right - left > 4) {
			context.fillStyle = fills.page;
			context.fillRect(right - 1, top, 1, high);
		}
		return right;
	}

	function drawBins(row, top) {
		const width = model.length / Math.max(row.bins.length, 1);
		context.fillStyle = fills.other;
		for (let i = Math.floor(look.from / width); i < Math.min(row.bins.length, Math.ceil(look.to / width)); i++) {
			const high = Math.round(lane * row.bins[i] / 1000);
			if (high)
				context.fillRect(at(i * width), top + lane - high, Math.max(width * scale, 1), high);
		}
	}

	function drawRow(row) {
		const top = row.number * height + 1;
		let drawn = -1, below = -1;

		context.fillStyle = fills.computes;
		context.fillRect(0, top, look.width, height - 2);
		drawBins(row, top);
		for (const call of traceBetween(row.calls, row.reach, look.from, look.to))
			if (call.state === 'span' || call.state === 'off')
				below = drawSlice(call, top + lane, height - 2 - lane, below);
			else
				drawn = drawSlice(call, top, lane, drawn);
	}

	function drawMessages() {
		const found = [...traceBetween(model.messages, model.reach, look.from, look.to)].filter(message => !look.onlyLate || message.late);
		const step = Math.ceil(found.length / TRACE_LINES_MAX);
		const taken = step > 1 ? found.filter((message, i) => i % step === 0) : found;

		for (const message of taken) {
			context.strokeStyle = message.late ? fills.late : fills.line;
			context.lineWidth = message.late ? 1.5 : 1;
			context.globalAlpha = taken.length > 500 ? 0.5 : 0.9;
			context.beginPath();
			context.moveTo(at(message.begin), (message.from + 0.5) * height);
			context.lineTo(at(message.end), (message.to + 0.5) * height);
			context.stroke();
		}
		context.globalAlpha = 1;
		return [found.length, taken.length];
	}

	// Efficiencies are of what is between.
	function drawJudged() {
		context.fillStyle = fills.page;
		context.globalAlpha = 0.55;
		context.fillRect(0, 0, Math.min(Math.max(at(model.judged[0]), 0), look.width), look.height);
		const end = Math.min(Math.max(at(model.judged[1]), 0), look.width);
		context.fillRect(end, 0, look.width - end, look.height);
		context.globalAlpha = 1;
	}

	function drawChosen() {
		const { call, message } = look.chosen;
		context.strokeStyle = fills.mark;
		context.lineWidth = 3;
		if (call) {
			const left = at(call.begin);
			context.strokeRect(left, look.row * height + 1, Math.max(at(call.end) - left, 2), height - 2);
		} else if (message) {
			context.beginPath();
			context.moveTo(at(message.begin), (message.from + 0.5) * height);
			context.lineTo(at(message.end), (message.to + 0.5) * height);
			context.stroke();
		}
	}

	context.font = '12px system-ui, sans-serif';
	context.textBaseline = 'middle';
	context.clearRect(0, 0, look.width, look.height);
	model.rows.forEach(drawRow);
	if (model.judged[1] > model.judged[0])
		drawJudged();
	const counts = look.messages ? drawMessages() : [0, 0];
	drawChosen();
	return counts;
}
