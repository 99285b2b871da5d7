// SPDX-License-Identifier: Apache-2.0
// The section of waiting: all lines and threads in place of the first of each,
// which are there without script. Times asleep are in no other section, but for the
// flame graph when that is asked for them.

const WAIT_TITLES = { lock: 'Lock', gil: 'GIL', io: 'I/O', sleep: 'Sleep', child: 'Child', other: 'Other' };

// Those that there are any of.
function waitKinds(report) {
	return Object.keys(WAIT_TITLES).filter(kind => report.waiting_ns && report.waiting_ns[kind] > 0);
}

function waitingTime(waits) {
	return Object.keys(WAIT_TITLES).reduce((sum, kind) => sum + waits[kind], 0);
}

// "pid 12: worker 15"; a main thread's number is its process's.
function threadLabel(thread) {
	return (thread.pid ? 'pid ' + thread.pid + ': ' : '') + shown(thread.name) +
		(thread.tid && thread.tid !== thread.pid ? ' ' + thread.tid : '') +
		(thread.unstopped_ns ? ', read without stops: it blocks signals' : '');
}

function startWaiting(report, lineHead) {
	const ROWS = 20;
	const kinds = waitKinds(report);
	const whole = waitingTime(report.waiting_ns || {});

	// The table's rows, some at a time; what is said of those without script goes. Where there is little room each
	// figure has its heading with it.
	function fill(id, items, makeRow) {
		const holder = document.getElementById(id);
		const table = holder.querySelector('table');
		const titles = [...table.tHead.rows[0].cells].map(head => head.textContent);
		const more = element('button', { type: 'button', class: 'more' });
		let next = 0;

		function add() {
			const first = next;
			for (; next < items.length && next < first + ROWS; next++) {
				const row = makeRow(items[next]);
				[...row.cells].forEach((one, i) => one.dataset.title = titles[i]);
				table.tBodies[0].append(row);
			}
			more.hidden = next >= items.length;
			more.textContent = 'Show more (' + (items.length - next) + ')';
		}
		table.classList.add('stacked', 'unsorted');
		table.tBodies[0].replaceChildren();
		holder.replaceChildren(table);
		holder.after(more);
		more.addEventListener('click', add);
		add();
	}

	function lineRow(line) {
		const all = waitingTime(line.waiting_ns);
		return element('tr', {}, lineHead(line), numberCell(duration(all), all / whole),
			...kinds.map(kind => numberCell(line.waiting_ns[kind] ? duration(line.waiting_ns[kind]) : '-', 0)));
	}

	function threadRow(thread) {
		const share = ns => numberCell(percent(ns, report.duration_ns, 1), ns / report.duration_ns);
		return element('tr', {}, element('th', { scope: 'row' }, threadLabel(thread)),
			share(selfTime(thread)), share(waitingTime(thread.waiting_ns)),
			...kinds.map(kind => share(thread.waiting_ns[kind])));
	}

	if (!kinds.length)
		return;
	fill('waiting-lines', report.lines.filter(line => waitingTime(line.waiting_ns) > 0)
		.sort((a, b) => waitingTime(b.waiting_ns) - waitingTime(a.waiting_ns)), lineRow);
	fill('waiting-threads', report.threads, threadRow);
}
