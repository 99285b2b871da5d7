// SPDX-License-Identifier: Apache-2.0
// The call tree as it is looked at: from either end, around one function, by line or by function, with
// or without native frames. A node of a view stands for all nodes of the tree that look the same there.
// Children are found when they are asked for: a graph draws a few thousand nodes of a tree of any size.

// By which the interpreter, or a thread of its, begins.
function isStartFrame(frame) {
	const [kind, name, file] = frame;
	if (kind !== 0)
		return kind === 1 && /(^|\/)(python|libpython|libc\.so|libc-|libpthread)[^/]*$/.test(file);
	if (/(^|\/|<frozen )(runpy|importlib\._bootstrap(_external)?)(\.py|>)$/.test(file))
		return true;
	if (/\/threading\.py$/.test(file))
		return /(^|\.)(_bootstrap|_bootstrap_inner|run)$/.test(name);
	if (/\/multiprocessing\/(process|spawn|popen_\w+|forkserver|context)\.py$/.test(file))
		return true;
	return false;
}

// model: the tree in preorder, as flame_model.js makes it. options: { native, start, lines, up, around }.
function makeView(model, tree, options) {
	const count = model.frame.length;
	const skip = new Uint8Array(count);
	const keys = options.lines ? null : functionKeys();
	let made = 0;
	let starts = false; // are there start frames?

	function functionKeys() {
		const known = new Map();
		return tree.frames.map(function (frame) {
			const key = frame[0] + '\n' + frame[1] + '\n' + frame[2];
			if (!known.has(key))
				known.set(key, known.size);
			return known.get(key);
		});
	}

	function keyOf(id) {
		const frame = model.frame[id];
		return frame < 0 || !keys ? frame : keys[frame];
	}

	function isStart(id) {
		const frame = model.frame[id];
		return frame >= 0 && isStartFrame(tree.frames[frame]);
	}

	// Start frames are those outside of the first other one, where there is a Python frame further in.
	function markSkipped() {
		const python = new Uint8Array(count); // in it or below
		const starting = new Uint8Array(count);
		for (let id = count - 1; id > 0; id--) {
			const frame = model.frame[id];
			if (frame >= 0 && tree.frames[frame][0] === 0 && !isStart(id))
				python[id] = 1;
			if (python[id])
				python[model.parent[id]] = 1;
		}
		starting[0] = 1;
		for (let id = 1; id < count; id++) {
			const frame = model.frame[id];
			const outer = starting[model.parent[id]];
			const process = frame >= 0 && tree.frames[frame][0] === 2;
			starting[id] = outer && python[id] && (process || isStart(id)) ? 1 : 0;
			if (starting[id] && !process) {
				starts = true;
				skip[id] = options.start ? 0 : 1;
			}
			if (!options.native && (frame === SYSTEM || (frame >= 0 && [1, KERNEL].includes(tree.frames[frame][0]))))
				skip[id] = 1;
		}
	}

	function makeNode(key, id, parent) {
		return { key, id, parent, number: made++, total: 0, self: 0, before: 0,
			members: [], weights: null, befores: null, children: null };
	}

	function add(groups, node, key, id) {
		let child = groups.get(key);
		if (!child) {
			child = makeNode(key, id, node);
			groups.set(key, child);
		}
		return child;
	}

	// What the members call. Each node of the tree is in one of the children at most.
	function expandDown(node) {
		const groups = new Map();
		node.self = 0;
		for (const member of node.members) {
			node.self += model.self[member];
			for (let id = member + 1; id < model.end[member];) {
				if (skip[id]) {
					node.self += model.self[id];
					id++;
					continue;
				}
				if (model.total[id] > 0 || model.before && model.before[id] > 0) {
					const child = add(groups, node, keyOf(id), id);
					child.members.push(id);
					child.total += model.total[id];
					child.before += model.before ? model.before[id] : 0;
				}
				id = model.end[id];
			}
		}
		return [...groups.values()];
	}

	// A node's nearest caller that is shown; 0: none.
	function callerOf(id) {
		do
			id = model.parent[id];
		while (id > 0 && skip[id]);
		return id;
	}

	function addUp(groups, node, id, weight, before) {
		const child = add(groups, node, keyOf(id), id);
		child.members.push(id);
		(child.weights = child.weights || []).push(weight);
		(child.befores = child.befores || []).push(before);
		child.total += weight;
		child.before += before;
	}

	// Who calls the members; weights: the time that each of them stands for.
	function expandUp(node) {
		const groups = new Map();
		node.self = 0;
		node.members.forEach(function (member, i) {
			const caller = callerOf(member);
			if (caller > 0)
				addUp(groups, node, caller, node.weights[i], node.befores[i]);
			else
				node.self += node.weights[i];
		});
		return [...groups.values()];
	}

	function expandLeaves(node) {
		const groups = new Map();
		for (let id = 1; id < count; id++) {
			const before = model.selfBefore ? model.selfBefore[id] : 0;
			if (!model.self[id] && !before)
				continue;
			const shownId = skip[id] ? callerOf(id) : id;
			if (shownId > 0)
				addUp(groups, node, shownId, model.self[id], before);
		}
		return [...groups.values()];
	}

	function childrenOf(node) {
		if (!node.children)
			node.children = node.leaves ? expandLeaves(node) : node.weights ? expandUp(node) : expandDown(node);
		// Callers are in no order of their own.
		if (!node.sorted && (node.leaves || node.weights))
			node.children.sort((a, b) => b.total - a.total || b.before - a.before);
		node.sorted = true;
		return node.children;
	}

	function makeRoot(leaves) {
		const root = makeNode(ROOT, 0, null);
		root.members.push(0);
		root.leaves = leaves;
		root.total = model.total[0];
		root.before = model.before ? model.before[0] : 0;
		return root;
	}

	// All that are too narrow beside each other.
	function restOf(parent, nodes) {
		const rest = makeNode(REST, nodes[0].id, parent);
		rest.count = nodes.length;
		for (const node of nodes) {
			rest.total += node.total;
			rest.before += node.before;
		}
		rest.children = nodes;
		return rest;
	}

	// The outermost nodes of a function, by the key of one of them: what they call, and who calls them.
	function around(wanted) {
		const callees = makeNode(wanted, 0, null), callers = makeNode(wanted, 0, null);
		callers.weights = [];
		callers.befores = [];
		for (let id = 1; id < count;) {
			if (skip[id] || keyOf(id) !== wanted || !(model.total[id] > 0 || model.before && model.before[id] > 0)) {
				id++;
				continue;
			}
			const before = model.before ? model.before[id] : 0;
			for (const node of [callees, callers]) {
				node.id = node.id || id;
				node.members.push(id);
				node.total += model.total[id];
				node.before += before;
			}
			callers.weights.push(model.total[id]);
			callers.befores.push(before);
			id = model.end[id];
		}
		return { callees, callers };
	}

	markSkipped();
	return { root: makeRoot(Boolean(options.up)), childrenOf, restOf, around, keyOf, folds: starts };
}
