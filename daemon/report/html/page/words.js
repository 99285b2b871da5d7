// SPDX-License-Identifier: Apache-2.0
// The HTML report's script: the files of html_files.c, one behind the other.
// Strings of the target reach the page through shown() and text nodes alone;
// nothing here parses HTML.
'use strict';

// Control characters, and those that are invisible or turn the direction of text.
const unprintable =
	/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function shown(text) {
	return String(text).replace(unprintable, function (character) {
		return '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0');
	});
}

function duration(ns) {
	for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['us', 1e3]]) {
		const value = ns / size;
		if (value >= 1)
			return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + ' ' + unit;
	}
	return ns + ' ns';
}

// Thousands, as the text report has them.
function bytesText(bytes) {
	return bytes < 1000 ? bytes + (bytes === 1 ? ' byte' : ' bytes') : bytes < 999500 ? Math.round(bytes / 1e3) + ' KB' : (bytes / 1e6).toFixed(1) + ' MB';
}

// Of shares of CPU time: none where there are too few samples for them.
let shareDigits = 1;

function percent(part, whole, digits = shareDigits) {
	return whole > 0 ? (part / whole * 100).toFixed(digits) + '%' : '-';
}

function place(file, line) {
	return shown(file) + (line ? ':' + line : '');
}

function lastComponent(path) {
	return path.slice(path.lastIndexOf('/') + 1);
}

// The last two components; the whole path is a tooltip, and in the section of sources.
function shortWords(file, line) {
	const parts = file.split('/');
	return place(parts.length > 3 ? '.../' + parts.slice(-2).join('/') : file, line);
}

// Without the tag of the interpreter that a library is built for.
function libraryName(path) {
	return lastComponent(path).replace(/\.(cpython-|abi3)[^/]*\.so$/, '.so');
}

function selfTime(line) {
	return line.python_ns + line.native_ns + line.system_ns;
}

// The classes of a line's time in user code: one of both where these are not told apart.
function userClasses(report) {
	if (report.native_known === false)
		return [{ title: 'User', time: line => line.python_ns + line.native_ns }];
	return [{ title: 'Python', time: line => line.python_ns }, { title: 'Native', time: line => line.native_ns }];
}

function redundantCount(line) {
	return line.loads.redundant + line.stores.redundant;
}

// An element with attributes and children, which are elements or text.
function element(name, attributes, ...children) {
	const made = document.createElement(name);
	for (const [key, value] of Object.entries(attributes || {}))
		made.setAttribute(key, value);
	made.append(...children);
	return made;
}

// The source of a line, with the expression of its finding marked; or other words.
function sourceText(line, attributes, otherwise) {
	if (!line.source || !line.mark)
		return element('code', attributes, shown(line.source || otherwise));
	const characters = Array.from(line.source);
	const part = (from, to) => shown(characters.slice(from, to).join(''));
	const [from, to] = line.mark;
	return element('code', attributes, part(0, from), element('mark', {}, part(from, to)), part(to));
}

// A block of the page's data, as html_data.h lays it down.
async function readData(id) {
	const block = document.getElementById(id);
	if (block.type !== 'application/gzip')
		return JSON.parse(block.textContent);
	const packed = atob(block.textContent);
	const bytes = new Uint8Array(packed.length);
	for (let i = 0; i < packed.length; i++)
		bytes[i] = packed.charCodeAt(i);
	const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
	return new Response(plain).json();
}
