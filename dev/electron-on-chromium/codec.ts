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
  const bytes = (view: Uint8Array): string => {
    let text = '';
    for (const byte of view) text += String.fromCharCode(byte);
    return btoa(text);
  };
  const above = new Set<unknown>();
  const nested = (holder: unknown, list: () => unknown): unknown => {
    if (above.has(holder)) throw new Error('electron-on-chromium does not model a value that holds itself.');
    above.add(holder);
    const result = list();
    above.delete(holder);
    return result;
  };
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
    if (Array.isArray(value)) return nested(value, () => Array.from(value as unknown[], walk));
    if (value instanceof Date) return tagged('date', value.getTime());
    if (value instanceof RegExp) return tagged('regexp', [value.source, value.flags]);
    if (value instanceof Error) return tagged('error', [value.name, value.message]);
    if (value instanceof Map)
      return nested(value, () =>
        tagged(
          'map',
          [...value].map((pair) => pair.map(walk)),
        ),
      );
    if (value instanceof Set) return nested(value, () => tagged('set', [...value].map(walk)));
    if (value instanceof ArrayBuffer) return tagged('buffer', bytes(new Uint8Array(value)));
    if (ArrayBuffer.isView(value)) {
      const view = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
      // Node's Buffer arrives as what it is for the rest of the world.
      const name = value.constructor.name === 'Buffer' ? 'Uint8Array' : value.constructor.name;
      return tagged('view', [name, bytes(view)]);
    }
    if (Object.prototype.toString.call(value) !== '[object Object]')
      throw new Error(`electron-on-chromium does not model a ${value.constructor.name} between processes.`);
    const members = nested(value, () =>
      Object.fromEntries(Object.entries(value).map(([name, member]) => [name, walk(member)])),
    );
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
  const members = (value: object): unknown =>
    Object.fromEntries(Object.entries(value).map(([name, member]) => [name, walk(member)]));
  const walk = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return (value as unknown[]).map(walk);
    if (!Object.hasOwn(value, '$')) return members(value);
    const { $: kind, v } = value as { $: string; v: never };
    switch (kind) {
      case 'undefined':
        return undefined;
      case 'number':
        return Number(v);
      case 'bigint':
        return BigInt(v);
      case 'date':
        return new Date(v);
      case 'regexp':
        return new RegExp(v[0], v[1]);
      case 'error':
        return Object.assign(new Error(v[1]), { name: v[0] });
      case 'map':
        return new Map((v as unknown[][]).map((pair) => pair.map(walk)) as [unknown, unknown][]);
      case 'set':
        return new Set((v as unknown[]).map(walk));
      case 'buffer':
        return unpack(v).buffer;
      case 'view': {
        const { buffer } = unpack(v[1]);
        const View = (globalThis as unknown as Record<string, new (buffer: unknown) => unknown>)[v[0]];
        return View === undefined ? undefined : new View(buffer);
      }
      default:
        return members(v);
    }
  };
  return walk(given);
}
