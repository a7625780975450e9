import { EventEmitter } from 'node:events';

/*
 * What is not modelled must not look as if it worked: a member that is missing throws by its name, and so does a listener
 * for an event that never comes.
 */

export function notModelled(what: string): never {
  throw new Error(`electron-on-chromium does not model ${what}.`);
}

/** What the language and the tools ask of any object: `await`, JSON, `console.log`. */
const asked = new Set<PropertyKey>([
  'then',
  'toJSON',
  'inspect',
  'constructor',
  'asymmetricMatch',
  '$$typeof',
  'nodeType',
]);

/** The same object, of which reading a member that is not there throws. Members may be replaced, as tests do. */
export function strict<T extends object>(name: string, target: T): T {
  return new Proxy(target, {
    get(object, member, receiver) {
      if (member in object || typeof member === 'symbol' || asked.has(member))
        return Reflect.get(object, member, receiver) as unknown;
      // An event emitter's own bookkeeping.
      if (object instanceof EventEmitter && member.startsWith('_')) return undefined;
      return notModelled(`${name}.${member}`);
    },
  });
}

/** An emitter that refuses listeners of events outside of its list. */
export class StrictEmitter extends EventEmitter {
  constructor(name: string, events: readonly string[]) {
    super();
    const known = new Set<string | symbol>(['newListener', 'removeListener', 'error', ...events]);
    this.on('newListener', (event: string | symbol) => {
      if (!known.has(event)) notModelled(`the event ${String(event)} of ${name}`);
    });
  }
}

/** An event that a listener can prevent, as Electron hands them out. */
export interface Preventable {
  readonly defaultPrevented: boolean;
  preventDefault(): void;
}

export function preventable<T extends object>(members: T): T & Preventable {
  let prevented = false;
  return {
    ...members,
    get defaultPrevented() {
      return prevented;
    },
    preventDefault() {
      prevented = true;
    },
  };
}
