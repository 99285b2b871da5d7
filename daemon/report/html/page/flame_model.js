// SPDX-License-Identifier: Apache-2.0
// The call tree with its times, as the flame graph takes them. A node's times are by kind: python, native, system.

const SYSTEM = -1; // frames that are not in the tree's table
const ROOT = -2;
const REST = -3; // several that are too narrow to be drawn

const KERNEL = 3; // the kind of frames in the kernel: all of their own time is system time

// The tree in preorder with a root for all, and time in the kernel as frames of its own where it is not known where.
function makeFlameModel(tree) {
	const model = { frame: [ROOT], depth: [0], parent: [-1], self: [], total: [], end: [], node: [], before: null, selfBefore: null };
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
		if (tree.frames[tree.frame[i]][0] === KERNEL)
			continue;
		if (tree.system[i] > 0 || tree.before && tree.before.system[i] > 0)
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
function waitsByNode(report, tree, kind) {
	const none = new Array(tree.depth.length).fill(0);
	const sums = none.slice();
	for (const name of kind === 'all' ? waitKinds(report) : [kind])
		tree.waiting[name].forEach((ns, i) => sums[i] += ns);
	return { python: sums, native: none, system: none };
}

// [self, total] of every frame of the model, from the times of the tree's nodes by kind.
function sumUpTimes(model, times) {
	const count = model.frame.length;
	const self = new Array(count).fill(0);
	for (let i = 0; i < model.node.length; i++) {
		const id = model.node[i];
		self[id] += times.python[i] + times.native[i];
		if (times.system[i] > 0)
			self[model.frame[id + 1] === SYSTEM && model.parent[id + 1] === id ? id + 1 : id] += times.system[i];
	}
	const total = self.slice();
	for (let id = count - 1; id > 0; id--)
		total[model.parent[id]] += total[id];
	return [self, total];
}

// Times by node of one thread alone, of the whole run.
function threadByNode(tree, number) {
	const stacks = tree.stacks;
	const sums = {};
	for (const kind of ['python', 'native', 'system']) {
		sums[kind] = new Array(tree.depth.length).fill(0);
		stacks.thread.forEach((other, i) => other === number && (sums[kind][stacks.node[i]] += stacks[kind][i]));
	}
	return sums;
}
