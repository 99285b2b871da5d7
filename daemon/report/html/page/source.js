// SPDX-License-Identifier: Apache-2.0
// The section of sources: the functions that time was spent in, with a bar of time for each line.

// parts: { classes, totalTime, pairLink, pairsOf, asleep }.
function startSource(report, tree, parts) {
	const FILES = 10;
	const ROWS = 400;
	const classes = parts.classes.concat({ title: 'System', time: line => line.system_ns });
	const kinds = report.native_known === false ? ['python', 'system'] : ['python', 'native', 'system'];
	const made = new Map(); // by name
	const files = new Map();

	// Of each line of the program's own, the time of the samples of which it is the innermost such line.
	function ownTimes() {
		const times = new Map();
		const owners = [];
		for (let i = 0; i < tree.depth.length; i++) {
			const frame = tree.frames[tree.frame[i]];
			const depth = tree.depth[i];
			owners[depth] = frame[0] === 0 && frame[4] ? frame[2] + '\n' + frame[3] : depth ? owners[depth - 1] : null;
			if (owners[depth])
				times.set(owners[depth], (times.get(owners[depth]) || 0) + tree.python[i] + tree.native[i] + tree.system[i]);
		}
		return times;
	}

	const own = ownTimes();

	function heatOf(line) {
		return own.get(line.file + '\n' + line.line) || selfTime(line);
	}

	function share(ns) {
		return ns > 0 ? percent(ns, parts.totalTime) : '';
	}

	function segment(kind, ns) {
		const made = element('span', { class: kind });
		made.style.setProperty('--part', Math.min(ns / parts.totalTime, 1));
		return made;
	}

	// Its own time by kind, then that of what it calls.
	function heatBar(line) {
		const bar = element('span', { class: 'heat', role: 'img', 'aria-label':
			classes.map(one => one.title + ' ' + (share(one.time(line)) || '0%')).join(', ') + ', total ' + (share(line.total_ns) || '0%') });
		if (parts.totalTime > 0) {
			classes.forEach((one, i) => one.time(line) > 0 && bar.append(segment(kinds[i], one.time(line))));
			if (line.total_ns > selfTime(line))
				bar.append(segment('callees', line.total_ns - selfTime(line)));
		}
		return bar;
	}

	// Touched first there; 0 also of a report without memory.
	function freshBytes(line) {
		return (line.fresh_python_bytes || 0) + (line.fresh_native_bytes || 0);
	}

	function redundantCell(line) {
		const sampled = line.loads.sampled + line.stores.sampled;
		const cell = element('td', { class: 'number detail' });
		const pairs = parts.pairsOf(line);
		if (sampled)
			cell.append(pairs.length ? parts.pairLink(pairs[0], redundantCount(line) + ' of ' + sampled) :
				redundantCount(line) + ' of ' + sampled);
		return cell;
	}

	// The text as it stands in the file, with the expression of the line's finding marked.
	function codeOf(line, text) {
		if (text === undefined)
			return sourceText(line, {}, '(' + line.function + ')');
		if (!line || !line.mark)
			return element('code', {}, shown(text));
		const indent = text.length - text.trimStart().length;
		return element('code', {}, shown(text.slice(0, indent)), ...sourceText(line, {}, '').childNodes);
	}

	function rowOf(file, number, text) {
		const line = file.byNumber.get(number);
		const head = element('th', { scope: 'row', class: 'number' }, ...numberLinks(file.name, number, Boolean(line)));
		const code = element('td', { class: 'code' }, codeOf(line, text));
		const others = [];

		if (!line) {
			for (let i = 0; i < 3 + file.redundant + file.asleep + file.fresh; i++)
				others.push(element('td', { class: i > 1 ? 'detail' : '' }));
			return element('tr', {}, head, ...others, code);
		}
		if (file.redundant)
			others.push(redundantCell(line));
		if (file.asleep) {
			const ns = waitingTime(line.waiting_ns);
			others.push(element('td', { class: 'number detail' }, ns ? duration(ns) : ''));
		}
		if (file.fresh)
			others.push(element('td', { class: 'number detail' }, freshBytes(line) ? bytesText(freshBytes(line)) : ''));
		return element('tr', { class: 'timed' }, head, element('td', {}, heatBar(line)),
			element('td', { class: 'number' }, share(selfTime(line))), element('td', { class: 'number detail' }, share(line.total_ns)),
			...others, code);
	}

	// Whether the lines of a file are what ran.
	function noteOf(name) {
		const source = (report.sources || []).find(other => other.file === name);
		const words = [];

		if (source && source.newer_than_process)
			words.push('This file changed after the process had started: what it ran may be an older text.');
		if (source && source.differs_now)
			words.push('This file changed since the recording: these are the lines of that time.');
		return words.length ? [element('p', { class: 'note' }, words.join(' '))] : [];
	}

	// [number, text] of all that is shown: functions, and lines of which no more is known.
	function linesOf(file) {
		const texts = new Map(file.texts ? file.texts.line.map((number, i) => [number, file.texts.text[i]]) : []);
		for (const line of file.lines)
			if (!texts.has(line.line))
				texts.set(line.line, undefined);
		return [...texts].sort((a, b) => a[0] - b[0]);
	}

	function fill(file) {
		const body = element('tbody');
		const more = element('button', { type: 'button', class: 'more' });
		const lines = linesOf(file);
		const columns = 5 + file.redundant + file.asleep + file.fresh;
		let next = 0, before = lines.length ? lines[0][0] - 1 : 0;

		function add(until) {
			for (; next < lines.length && next < until; next++) {
				const [number, text] = lines[next];
				if (number > before + 1)
					body.append(element('tr', { class: 'gap' }, element('td', { colspan: columns }, '\u22ef')));
				const row = rowOf(file, number, text);
				file.rows.set(number, row);
				body.append(row);
				before = number;
			}
			more.hidden = next >= lines.length;
			more.textContent = 'Show more lines (' + (lines.length - next) + ')';
		}

		const titles = ['Line', 'Time', 'Self', 'Total'].concat(file.redundant ? ['Redundant'] : [], file.asleep ? ['Asleep'] : [], file.fresh ? ['Memory'] : []);
		const head = element('tr', {}, ...titles.map(title => element('th', { scope: 'col', class: title === 'Time' ? '' : ['Line', 'Self'].includes(title) ? 'number' : 'number detail' }, title)),
			element('th', { scope: 'col' }, 'Source'));
		file.reach = function (number) {
			const at = lines.findIndex(([other]) => other >= number);
			if (at >= next)
				add(at + ROWS);
			return file.rows.get(number);
		};
		more.addEventListener('click', () => add(next + ROWS));
		add(ROWS);
		file.details.append(...noteOf(file.name),
			element('div', { class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Lines of ' + shown(file.name) },
				element('table', { class: 'gutter' }, element('thead', {}, head), body)), more);
	}

	function open(file) {
		if (!file.filled)
			fill(file);
		file.filled = true;
		file.details.open = true;
	}

	function makeFile(file, index) {
		file.details = element('details', {}, element('summary', {},
			element('span', { class: 'where' }, shown(file.name)), ' ',
			percent(file.own ? file.heat : file.self, parts.totalTime) + (file.own ? '' : ', a library\u2019s')));
		file.details.addEventListener('toggle', () => file.details.open && open(file));
		made.set(file.name, file);
		if (index === 0)
			open(file);
		return file.details;
	}

	function goTo(file, number) {
		open(file);
		const row = file.reach(number);
		if (!row)
			return false;
		for (const other of document.querySelectorAll('#source .chosen'))
			other.classList.remove('chosen');
		row.classList.add('chosen');
		row.tabIndex = -1;
		row.focus({ preventScroll: true });
		row.scrollIntoView({ block: 'center' });
		return true;
	}

	function gather() {
		const texts = new Map((tree.texts || []).map(one => [one.file, one]));
		report.lines.forEach(function (line, i) {
			if (!line.line || !(line.total_ns > 0 || line.loads.sampled + line.stores.sampled || parts.asleep || freshBytes(line)))
				return; // a native function
			if (!files.has(line.file))
				files.set(line.file, { name: line.file, own: !(tree.foreign || [])[i], lines: [], byNumber: new Map(), rows: new Map(),
					texts: texts.get(line.file), self: 0, heat: 0, redundant: false, asleep: false, fresh: false, details: null, filled: false });
			const file = files.get(line.file);
			file.lines.push(line);
			file.byNumber.set(line.line, line);
			file.self += selfTime(line);
			file.heat += own.get(line.file + '\n' + line.line) || 0;
			file.redundant = file.redundant || line.loads.sampled + line.stores.sampled > 0;
			file.fresh = file.fresh || freshBytes(line) > 0;
			file.asleep = file.asleep || Boolean(parts.asleep && waitingTime(line.waiting_ns));
		});
		return [...files.values()].sort((a, b) => b.own - a.own || b.heat - a.heat || b.self - a.self);
	}

	const sorted = gather();
	const reach = parts.list('source-list', sorted, FILES, makeFile);
	const button = document.getElementById('hottest');

	showSource = function (name, number) {
		const file = files.get(name);
		if (!file)
			return false;
		reveal('source');
		reach(sorted.indexOf(file));
		return goTo(file, number);
	};
	button.hidden = !sorted.length;
	button.addEventListener('click', function () {
		const file = sorted[0];
		const hottest = file.lines.reduce((best, line) => heatOf(line) > heatOf(best) ? line : best);
		goTo(file, hottest.line);
	});
}
