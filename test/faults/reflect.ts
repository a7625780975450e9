/*
 * @peculiar/x509 builds on tsyringe, which refuses to load without the three functions below (the metadata
 * proposal that never became part of the language). This is all it uses of them; import this module first.
 */
type Key = string | symbol;
const metadata = new WeakMap<object, Map<Key, unknown>>();

const getOwnMetadata = (key: Key, target: object): unknown => metadata.get(target)?.get(key);

function getMetadata(key: Key, target: object): unknown {
  for (let at: object | null = target; at; at = Reflect.getPrototypeOf(at)) {
    if (metadata.get(at)?.has(key)) return getOwnMetadata(key, at);
  }
  return undefined;
}

function defineMetadata(key: Key, value: unknown, target: object): void {
  const own = metadata.get(target) ?? new Map<Key, unknown>();
  own.set(key, value);
  metadata.set(target, own);
}

if (!('getMetadata' in Reflect)) Object.assign(Reflect, { getMetadata, getOwnMetadata, defineMetadata });
