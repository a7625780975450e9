import { decode, encode } from './codec.ts';

/*
 * What runs in the page: Electron's context bridge between the preload's isolated world and the page's own. The functions
 * below are sent as text, so each uses nothing from outside of itself but what it is given. They know Node's types of the
 * same globals; what only a page has is declared here.
 */

/** The name of the preload's world, and of the one function through which it reaches main. Only that world has it. */
export const worldName = 'electron-preload';
export const bindingName = 'electronMain';
/** Members of the isolated world's `globalThis` that main calls. */
export const entries = {
  settle: 'electronSettle',
  deliver: 'electronDeliver',
  takeFile: 'electronTakeFile',
} as const;

/** What the isolated world sends to main, as JSON. */
export type ToMain =
  | { readonly kind: 'invoke'; readonly id: number; readonly channel: string; readonly args: unknown }
  | { readonly kind: 'open'; readonly url: string }
  | { readonly kind: 'focus' | 'blur' | 'hidden' | 'resize' };

type Wire =
  | { readonly value: unknown }
  | { readonly call: number }
  | { readonly promise: number }
  | { readonly error: string }
  | { readonly list: readonly Wire[] }
  | { readonly members: readonly (readonly [string, Wire])[] };

/**
 * One end of the bridge. Both worlds have the same port as an object of their own; events on it are heard in both at once,
 * and what they carry is copied by structured clone. Functions and promises stay where they are and are called from there.
 */
function connect(port: EventTarget, here: string, there: string) {
  const { CustomEvent, structuredClone, Map, Promise, Error, Array, Object } = globalThis;
  // Taken before any script of the page runs: what it puts in their place would be handed the port.
  const dispatchEvent = port.dispatchEvent.bind(port);
  const addEventListener = port.addEventListener.bind(port);
  const apply = Reflect.apply.bind(Reflect);
  const { get: detailOf } = Object.getOwnPropertyDescriptor(CustomEvent.prototype, 'detail') as unknown as {
    readonly get: () => never;
  };
  const functions = new Map<number, (...args: unknown[]) => unknown>();
  const promises = new Map<number, { resolve: (value: unknown) => void; reject: (error: unknown) => void }>();
  let last = 0;
  let returned: { readonly wire?: Wire; readonly error?: string } = {};

  const tell = (kind: string, detail: unknown): void => {
    dispatchEvent(new CustomEvent(`${there} ${kind}`, { detail }));
  };
  const hear = (kind: string, listener: (detail: never) => void): void => {
    addEventListener(`${here} ${kind}`, (event) => {
      listener(apply(detailOf, event, []));
    });
  };
  const refuse = (): never => {
    throw new Error('An object could not be cloned.');
  };
  /** Throws for what structured clone does not take, Proxies among them. */
  const clonable = (value: unknown): Wire => {
    try {
      structuredClone(value);
    } catch {
      refuse();
    }
    return { value };
  };
  /** Of an object whose members have passed: V8 names the first that it can't clone, and a Proxy is that itself. */
  const isProxy = (value: object): boolean => {
    try {
      structuredClone(value);
      return false;
    } catch (error) {
      return /(?:#<(?!Promise>)[^>]*>|\[object Array\]) could not be cloned\.$/.test(messageOf(error));
    }
  };
  const messageOf = (error: unknown): string =>
    error instanceof Error
      ? error.message
      : 'An unknown exception occurred in the isolated context, an error occurred but a valid exception was not thrown.';

  /** What a value has of functions, promises and their holders. Electron keeps one in two places one, which is not modelled. */
  let wired = new Set<unknown>();
  const onlyOnce = (value: unknown): void => {
    if (wired.has(value))
      throw new Error('electron-on-chromium does not model one function in two places over the bridge.');
    wired.add(value);
  };

  /** What can be cloned as it stands goes in one piece, and the rest member by member. */
  function pass(value: unknown): Wire {
    wired = new Set();
    const wire = walk(value, 0, []);
    return 'value' in wire ? clonable(value) : wire;
  }
  function walk(value: unknown, depth: number, above: readonly unknown[]): Wire {
    if (depth >= 1000)
      throw new TypeError(
        'Electron contextBridge recursion depth exceeded.  Nested objects deeper than 1000 are not supported.',
      );
    if (typeof value === 'symbol')
      throw new Error('electron-on-chromium does not model a symbol over the bridge.');
    if (typeof value === 'function') {
      onlyOnce(value);
      functions.set(++last, value as (...args: unknown[]) => unknown);
      return { call: last };
    }
    if (typeof value !== 'object' || value === null) return { value };
    if (value instanceof Promise) {
      onlyOnce(value);
      const id = ++last;
      value.then(
        (result: unknown) => {
          settle(id, result);
        },
        (error: unknown) => {
          tell('settle', { id, error: pass(error) });
        },
      );
      return { promise: id };
    }
    if (value instanceof Error) return { error: value.message };
    const isList = Array.isArray(value);
    if (!isList && Object.prototype.toString.call(value) !== '[object Object]') return clonable(value);
    if (above.includes(value))
      throw new Error('electron-on-chromium does not model a value that holds itself.');
    // Electron counts an object twice: for itself and for its members.
    const within = [...above, value];
    const inner = (member: unknown): Wire => walk(member, depth + (isList ? 1 : 2), within);
    const names = isList ? [] : Object.keys(value);
    // Electron sets each member, and so the prototype.
    if (names.includes('__proto__'))
      throw new Error('electron-on-chromium does not model a member __proto__ over the bridge.');
    const wires = isList
      ? Array.from(value as unknown[], inner)
      : names.map((name) => inner((value as Record<string, unknown>)[name]));
    if (wires.every((wire) => 'value' in wire)) return { value };
    onlyOnce(value);
    if (isProxy(value)) refuse();
    for (const wire of wires) if ('value' in wire) clonable(wire.value);
    return isList ? { list: wires } : { members: wires.map((wire, at) => [names[at] ?? '', wire]) };
  }
  function settle(id: number, result: unknown): void {
    try {
      tell('settle', { id, wire: pass(result) });
    } catch (error) {
      tell('settle', { id, error: { error: messageOf(error) } });
    }
  }

  function receive(wire: Wire): unknown {
    if ('value' in wire) return wire.value;
    if ('error' in wire) return new Error(wire.error);
    if ('list' in wire) return wire.list.map(receive);
    if ('members' in wire)
      return Object.fromEntries(wire.members.map(([name, member]) => [name, receive(member)]));
    if ('promise' in wire)
      return new Promise((resolve, reject) => {
        promises.set(wire.promise, { resolve, reject });
      });
    return (...args: unknown[]): unknown => {
      tell('call', { id: wire.call, args: args.map(pass) });
      const { wire: result, error } = returned;
      returned = {};
      if (error !== undefined) throw new Error(error);
      return result === undefined ? undefined : receive(result);
    };
  }

  hear('call', ({ id, args }: { id: number; args: Wire[] }) => {
    let answer: unknown;
    try {
      answer = { wire: pass(functions.get(id)?.(...args.map(receive))) };
    } catch (error) {
      answer = { error: messageOf(error) };
    }
    tell('return', answer);
  });
  hear('return', (answer: typeof returned) => {
    returned = answer;
  });
  hear('settle', ({ id, wire, error }: { id: number; wire?: Wire; error?: Wire }) => {
    const waiting = promises.get(id);
    promises.delete(id);
    if (error !== undefined) waiting?.reject(receive(error));
    else if (wire !== undefined) waiting?.resolve(receive(wire));
  });
  return { pass, receive, tell, hear };
}

interface PageGlobal {
  open: (...args: readonly unknown[]) => unknown;
  readonly top: unknown;
  readonly document: {
    readonly baseURI: string;
    readonly visibilityState: string;
    addEventListener(type: string, listener: () => void): void;
  };
  addEventListener(type: string, listener: (event: never) => void, options?: object): void;
  dispatchEvent(event: Event): void;
}

/** The page's own world, before any script of the page: puts there what the preload exposes. */
function inPage(handover: string, join: typeof connect): void {
  const page = globalThis as unknown as PageGlobal;
  // Chromium would make a frame a window before main is asked, and here main never allows one.
  const { open } = page;
  page.open = (...args) => {
    Reflect.apply(open, page, args);
    return null;
  };
  if (page.top !== globalThis) return;
  const freeze = (value: unknown): void => {
    if (
      (typeof value !== 'object' && typeof value !== 'function') ||
      value === null ||
      ArrayBuffer.isView(value) ||
      Object.isFrozen(value)
    )
      return;
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  };
  page.addEventListener(
    handover,
    ({ ports: [port] }: { ports: [EventTarget] }) => {
      const { receive, hear, tell } = join(port, 'page', 'preload');
      // Main is asked as in Electron, before there is a window. None is made: what main allows is not modelled.
      page.open = (url = '') => {
        const address = String(url);
        if (address !== '' && !URL.canParse(address, page.document.baseURI))
          throw new DOMException(
            `Failed to execute 'open' on 'Window': Unable to open a window with invalid URL '${address}'.`,
            'SyntaxError',
          );
        tell('open', address === '' ? 'about:blank' : new URL(address, page.document.baseURI).href);
        return null;
      };
      hear('expose', ({ key, wire }: { key: string; wire: Wire }) => {
        const api = receive(wire);
        freeze(api);
        Object.defineProperty(globalThis, key, { value: api, enumerable: true });
      });
    },
    { once: true, capture: true },
  );
}

interface PreloadParts {
  readonly handover: string;
  readonly bindingName: string;
  readonly entries: typeof entries;
  readonly pathMark: string;
  readonly join: typeof connect;
  readonly encode: typeof encode;
  readonly decode: typeof decode;
  readonly preload: (require: unknown, module: unknown, exports: unknown) => void;
}

/** The isolated world: `electron` as a sandboxed preload has it, then the preload. */
function inPreload(parts: PreloadParts): void {
  const page = globalThis as unknown as PageGlobal & Record<string, unknown>;
  if (page.top !== globalThis) return;
  const { encode, decode, pathMark } = parts;
  const toMain = page[parts.bindingName] as (message: string) => void;
  const send = (message: ToMain): void => {
    toMain(JSON.stringify(message));
  };
  const { port1 } = new MessageChannel();
  const { MessageEvent } = globalThis as unknown as {
    MessageEvent: new (type: string, init: object) => Event;
  };
  page.dispatchEvent(new MessageEvent(parts.handover, { ports: [port1] }));
  const { pass, tell, hear } = parts.join(port1, 'preload', 'page');
  hear('open', (url: string) => {
    send({ kind: 'open', url });
  });

  const notModelled = (name: string): never => {
    throw new Error(`electron-on-chromium does not model ${name}.`);
  };
  const strict = <T extends object>(name: string, members: T): T =>
    new Proxy(members, {
      get: (object, member) =>
        member in object || typeof member === 'symbol' || member === 'then'
          ? (Reflect.get(object, member) as unknown)
          : notModelled(`${name}.${member}`),
    });

  const exposed = new Set<string>();
  const contextBridge = strict('contextBridge', {
    exposeInMainWorld(key: string, api: unknown): void {
      if (exposed.has(key) || key in globalThis)
        throw new Error('Cannot bind an API on top of an existing property on the window object');
      exposed.add(key);
      tell('expose', { key, wire: pass(api) });
    },
  });

  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let last = 0;
  type Listener = (event: object, ...args: unknown[]) => void;
  const listeners = new Map<string, Listener[]>();
  const ipcRenderer = strict('ipcRenderer', {
    async invoke(channel: string, ...args: unknown[]): Promise<unknown> {
      const id = ++last;
      const encoded = encode(args);
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        send({ kind: 'invoke', id, channel, args: encoded });
      });
    },
    on(channel: string, listener: Listener) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener]);
      return ipcRenderer;
    },
    removeListener(channel: string, listener: Listener) {
      listeners.set(
        channel,
        (listeners.get(channel) ?? []).filter((other) => other !== listener),
      );
      return ipcRenderer;
    },
  });

  const files = new Map<string, File>();
  const webUtils = strict('webUtils', {
    getPathForFile(file: File): string {
      if (!(file instanceof File))
        throw new TypeError('getPathForFile expected to receive a File object but one was not provided');
      const mark = `${pathMark}${files.size}`;
      files.set(mark, file);
      return mark;
    },
  });

  page[parts.entries.settle] = (id: number, ok: boolean, encoded: unknown): void => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (ok) call?.resolve(decode(encoded));
    else call?.reject(new Error(String(encoded)));
  };
  page[parts.entries.deliver] = (channel: string, encoded: unknown): void => {
    const args = decode(encoded) as unknown[];
    for (const listener of listeners.get(channel) ?? []) listener({ ports: [] }, ...args);
  };
  page[parts.entries.takeFile] = (mark: string): File | null => files.get(mark) ?? null;

  for (const kind of ['focus', 'blur', 'resize'] as const)
    page.addEventListener(kind, () => {
      send({ kind });
    });
  page.document.addEventListener('visibilitychange', () => {
    if (page.document.visibilityState === 'hidden') send({ kind: 'hidden' });
  });

  const electron = strict('electron in a sandboxed preload', { contextBridge, ipcRenderer, webUtils });
  const require = (name: string): unknown => {
    if (name === 'electron') return electron;
    throw new Error(`module not found: ${name}`);
  };
  const module = { exports: {} };
  parts.preload(require, module, module.exports);
}

export interface WorldScripts {
  readonly page: string;
  readonly isolated: string;
  /** With a number it stands for a File's path, until main asks Chromium for it. */
  readonly pathMark: string;
}

/** The two scripts of a window, to be evaluated in each new document, the page's first. */
export function worldScripts(preload: string): WorldScripts {
  // Known to no script of the page, which could otherwise ask for the port.
  const handover = `electron-${crypto.randomUUID()}`;
  // A page that knew it could have main read a path where there is none.
  const pathMark = `path-of-file:${crypto.randomUUID()}:`;
  const names = JSON.stringify({ handover, bindingName, entries, pathMark });
  return {
    pathMark,
    page: `(${inPage.toString()})(${JSON.stringify(handover)}, ${connect.toString()});`,
    isolated: `(${inPreload.toString()})({ ...${names}, join: ${connect.toString()}, encode: ${encode.toString()},
      decode: ${decode.toString()}, preload: function (require, module, exports) {${preload}\n} });`,
  };
}
