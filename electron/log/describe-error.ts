import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { failureCodes } from '../contract/errors.ts';

/** What may be said of an error without quoting it: messages and members can hold values of a person's files. */
export interface ErrorDescription {
  /** Name of its class; `not an Error: string` where something else was thrown. */
  readonly class: string;
  /** The system's or Node's code: ENOENT, ERR_OUT_OF_RANGE. */
  readonly code?: string;
  /** The code of the contract, where what was thrown is a failure or carries one. */
  readonly failure?: string;
  /** Our own frames, the innermost first: `save (main.js:120:7)`. */
  readonly stack: readonly string[];
  /** Classes of the causes, the nearest first. */
  readonly causes?: readonly string[];
}

const maxFrames = 10;
const maxCauses = 3;
/** Frames stand behind the message, so only the end of a long stack is read. */
const maxStackLength = 16 * 1024;

/** Describes whatever was thrown; never throws. Frames of files outside `codeFolder` are left out. */
export function describeError(error: unknown, codeFolder: string): ErrorDescription {
  const code = systemCode(error);
  const failure = failureCode(error);
  const causes = causesOf(error);
  return {
    class: classOf(error),
    ...(code !== null && { code }),
    ...(failure !== null && { failure }),
    stack: framesOf(error, codeFolder),
    ...(causes.length > 0 && { causes }),
  };
}

/** A member, or undefined where there is none or reading it throws. */
function member(of: unknown, name: string): unknown {
  if (typeof of !== 'object' || of === null) return undefined;
  try {
    return (of as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

function isError(value: unknown): boolean {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

/** By its constructor: `name` can be set to anything. */
function classOf(error: unknown): string {
  if (!isError(error)) return `not an Error: ${error === null ? 'null' : typeof error}`;
  let name: unknown;
  try {
    name = (Object.getPrototypeOf(error) as { constructor: { name: unknown } }).constructor.name;
  } catch {
    name = undefined;
  }
  return typeof name === 'string' && /^[A-Za-z_$][\w$]{0,59}$/.test(name) ? name : 'Error';
}

function systemCode(error: unknown): string | null {
  const code = member(error, 'code');
  if (typeof code !== 'string') return null;
  const isKnown = Object.hasOwn(os.constants.errno, code) || ['ENOTFOUND', 'EAI_AGAIN'].includes(code);
  return isKnown || /^(?:UND_)?ERR_[A-Z_]{2,50}$/.test(code) ? code : null;
}

function failureCode(error: unknown): string | null {
  const codes = [member(error, 'code'), member(member(error, 'failure'), 'code')];
  return failureCodes.find((known) => codes.includes(known)) ?? null;
}

function causesOf(error: unknown): string[] {
  const causes: string[] = [];
  let cause = member(error, 'cause');
  while (cause !== undefined && causes.length < maxCauses) {
    causes.push(classOf(cause));
    cause = member(cause, 'cause');
  }
  return causes;
}

function framesOf(error: unknown, codeFolder: string): string[] {
  const stack = isError(error) ? member(error, 'stack') : undefined;
  if (typeof stack !== 'string') return [];
  const message = member(error, 'message');
  // A message may hold lines that look like frames.
  const start =
    typeof message === 'string' && stack.includes(message) ? stack.indexOf(message) + message.length : 0;
  const lines = stack.slice(Math.max(start, stack.length - maxStackLength)).split('\n');
  const first = lines.findLastIndex((line) => !/^ {4}at /.test(line)) + 1;
  return lines
    .slice(first)
    .flatMap((line) => ownFrame(line, codeFolder) ?? [])
    .slice(0, maxFrames);
}

/** `    at save (file:///…/main.js:1:2)`, or without a function's name and parentheses. */
const framePattern = /^ {4}at (?:(.{1,200}?) \()?(.{1,1000}?):(\d{1,7}):(\d{1,7})\)?$/;

function ownFrame(line: string, codeFolder: string): string | null {
  const [, call, location = '', row = '', column = ''] = framePattern.exec(line) ?? [];
  const file = pathOf(location.replace(/^async /, ''));
  if (file === null) return null;
  const inside = path.relative(codeFolder, file);
  if (inside === '' || inside.startsWith('..') || path.isAbsolute(inside)) return null;
  const name = path.basename(file);
  if (!/^[\w.-]{1,80}\.[cm]?[jt]s$/.test(name)) return null;
  const at = `${name}:${row}:${column}`;
  return call !== undefined && isFunctionName(call) ? `${call} (${at})` : at;
}

function pathOf(location: string): string | null {
  try {
    const file = location.startsWith('file://') ? fileURLToPath(location) : location;
    return path.isAbsolute(file) ? file : null;
  } catch {
    return null;
  }
}

/** A function can be named after a computed key; none of ours has digits in a row. */
function isFunctionName(call: string): boolean {
  return /^[A-Za-z_$#<][\w$#.<>[\] ]{0,99}$/.test(call) && !/\d{4}/.test(call);
}
