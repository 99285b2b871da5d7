// SPDX-License-Identifier: Apache-2.0
// What changed since an earlier profile, or an earlier look at a heap: one tree of both, and the functions that changed.

// The nodes of either tree; python, native and system are those of the later one, before those of the base.
// Lines that edits have moved are the same where function and file are: a frame is a function.
function joinTrees(base, now) {
	const CLASSES = ['python', 'native', 'system'];
	const frames = [];
	const frameNumbers = new Map();
	const root = { children: new Map(), frame: -1, now: -1, before: -1 };
	const joined = { depth: [], frame: [], python: [], native: [], system: [], before: { python: [], native: [], system: [] } };

	function frameNumber(frame) {
		const key = frame.slice(0, 3).join('\n');
		if (!frameNumbers.has(key)) {
			frameNumbers.set(key, frames.length);
			frames.push(frame);
		}
		return frameNumbers.get(key);
	}

	function insert(tree, side) {
		const path = [root];
		for (let i = 0; i < tree.depth.length; i++) {
			const parent = path[tree.depth[i]];
			const frame = frameNumber(tree.frames[tree.frame[i]]);
			let node = parent.children.get(frame);
			if (!node) {
				node = { children: new Map(), frame, now: [], before: [] };
				parent.children.set(frame, node);
			}
			node[side].push(i);
			path[tree.depth[i] + 1] = node;
		}
	}

	function write(node, depth) {
		for (const child of node.children.values()) {
			joined.depth.push(depth);
			joined.frame.push(child.frame);
			for (const one of CLASSES) {
				joined[one].push(child.now.reduce((sum, i) => sum + now[one][i], 0));
				joined.before[one].push(child.before.reduce((sum, i) => sum + base[one][i], 0));
			}
			write(child, depth + 1);
		}
	}

	// The later one first: its frames have the lines that there are now.
	insert(now, 'now');
	insert(base, 'before');
	write(root, 0);
	return Object.assign({ frames }, joined);
}

function startChanges(diff) {
	const share = (figures, i, there) => there ? percent(figures[i], 1) : '-';
	const rows = diff.functions.filter(entry => !entry.noise);
	const change = entry => entry.ms_per_s[1] - entry.ms_per_s[0];
	const columns = [
		{ title: 'Function', text: true, value: entry => entry.function, cell: entry => element('th', { scope: 'row' },
			element('code', {}, shown(entry.function)), element('br'),
			...placeLinks(entry.file, entry.line[1] || 0, shortWords(entry.file, entry.line[1] || entry.line[0] || 0))) },
		{ title: 'Before', value: entry => entry.share[0], cell: entry => numberCell(share(entry.share, 0, entry.presence !== 'new'), entry.share[0]) },
		{ title: 'Now', value: entry => entry.share[1], cell: entry => numberCell(share(entry.share, 1, entry.presence !== 'gone'), entry.share[1]) },
		{ title: 'Change, ms a second', value: entry => Math.abs(change(entry)), cell: entry => numberCell(
			(change(entry) > 0 ? '+' : '') + change(entry).toFixed(1) + ' (' + entry.ms_per_s_change_interval[0].toFixed(1) + ' to ' +
				entry.ms_per_s_change_interval[1].toFixed(1) + ')', 0) },
	];
	const holder = document.getElementById('change-table');

	if (rows.length)
		makeTable(holder, columns, columns[3], 'functions')(rows, 'Own time of functions that changed by more than chance would have it, ' +
			'as shares of the CPU time; intervals are of 95%');
}
