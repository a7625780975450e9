/*
 * Structured clone over a channel of text. Both functions also run in the page, from their own text: they use nothing
 * from outside of themselves.
 */

/**
 * A value that structured clone takes, as JSON: JSON itself knows no `undefined`, no NaN, no dates, maps and bytes.
 * Throws what Electron throws for a function, a symbol, a Proxy and whatever else can't be cloned.
 */
export function encode(given: unknown): unknown {
  const tagged = (kind: string, value?: unknown): unknown => ({ $: kind, v: value });
  const bytes = (buffer: ArrayBuffer): string => {
    let text = '';
    for (const byte of new Uint8Array(buffer)) text += String.fromCharCode(byte);
    return btoa(text);
  };
  /** Objects by the order in which they are met: one in several places arrives as one. */
  const met = new Map<object, number>();
  const walk = (value: unknown): unknown => {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) && !Object.is(value, -0)
          ? value
          : tagged('number', Object.is(value, -0) ? '-0' : String(value));
      case 'undefined':
        return tagged('undefined');
      case 'bigint':
        return tagged('bigint', String(value));
      case 'object':
        break;
      default:
        throw new Error('An object could not be cloned.');
    }
    if (value === null) return null;
    const at = met.get(value);
    if (at !== undefined) return tagged('met', at);
    met.set(value, met.size);
    if (Array.isArray(value)) return Array.from(value as unknown[], walk);
    if (value instanceof Date) return tagged('date', walk(value.getTime()));
    if (value instanceof RegExp) return tagged('regexp', [value.source, value.flags]);
    if (value instanceof Error) {
      if (Object.hasOwn(value, 'cause'))
        throw new Error('electron-on-chromium does not model the cause of an error between processes.');
      return tagged('error', [value.name, value.message]);
    }
    if (value instanceof Map)
      return tagged(
        'map',
        [...value].map((pair) => pair.map(walk)),
      );
    if (value instanceof Set) return tagged('set', [...value].map(walk));
    if (value instanceof ArrayBuffer) return tagged('buffer', bytes(value));
    if (ArrayBuffer.isView(value)) {
      const length = 'length' in value ? value.length : value.byteLength;
      return tagged('view', [value.constructor.name, walk(value.buffer), value.byteOffset, length]);
    }
    if (Object.prototype.toString.call(value) !== '[object Object]')
      throw new Error(`electron-on-chromium does not model a ${value.constructor.name} between processes.`);
    const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, walk(member)]));
    return Object.hasOwn(value, '$') ? tagged('object', members) : members;
  };
  // It refuses what can't be cloned at all, Proxies among them, and takes prototypes and accessors away.
  let cloned: unknown;
  try {
    cloned = structuredClone(given);
  } catch {
    throw new Error('An object could not be cloned.');
  }
  return walk(cloned);
}

/** The value that `encode` was given. */
export function decode(given: unknown): unknown {
  const unpack = (text: string): Uint8Array => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  /** Objects in the order in which `encode` met them, each there before what is in it. */
  const met: unknown[] = [];
  const meet = <T extends object>(made: T): T => {
    met.push(made);
    return made;
  };
  const ownMember = { writable: true, enumerable: true, configurable: true };
  const members = (value: object): unknown => {
    const made = meet<Record<string, unknown>>({});
    for (const [name, member] of Object.entries(value)) {
      // Where there is none of its own, to set it sets the prototype.
      if (name === '__proto__') Object.defineProperty(made, name, ownMember);
      made[name] = walk(member);
    }
    return made;
  };
  const walk = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const list = meet<unknown[]>([]);
      for (const item of value as unknown[]) list.push(walk(item));
      return list;
    }
    if (!Object.hasOwn(value, '$')) return members(value);
    const { $: kind, v } = value as { $: string; v: never };
    switch (kind) {
      case 'met':
        return met[v];
      case 'undefined':
        return undefined;
      case 'number':
        return Number(v);
      case 'bigint':
        return BigInt(v);
      case 'date':
        return meet(new Date(walk(v) as number));
      case 'regexp':
        return meet(new RegExp(v[0], v[1]));
      case 'error':
        return meet(Object.assign(new Error(v[1]), { name: v[0] }));
      case 'map': {
        const map = meet(new Map<unknown, unknown>());
        for (const [key, item] of v as [unknown, unknown][]) map.set(walk(key), walk(item));
        return map;
      }
      case 'set': {
        const set = meet(new Set<unknown>());
        for (const item of v as unknown[]) set.add(walk(item));
        return set;
      }
      case 'buffer':
        return meet(unpack(v).buffer);
      case 'view': {
        const View = Reflect.get(globalThis, v[0]) as new (...args: unknown[]) => object;
        // Met before its buffer.
        const at = met.push(null) - 1;
        return (met[at] = new View(walk(v[1]), v[2], v[3]));
      }
      default:
        return members(v);
    }
  };
  return walk(given);
}
