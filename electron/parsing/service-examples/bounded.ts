import { isObject } from './example.ts';

const maxDepth = 12;
const maxNodes = 50_000;
const maxText = 8_192;

/** A copy without end or alias: YAML may have an object stand in itself, or a million times. `spent` is shared by several. */
export function bounded(json: unknown, spent: { nodes: number }, depth = 0): unknown {
  if (depth > maxDepth || ++spent.nodes > maxNodes) return undefined;
  if (typeof json === 'string') return json.slice(0, maxText);
  if (Array.isArray(json)) return json.slice(0, 100).map((one) => bounded(one, spent, depth + 1) ?? null);
  if (!isObject(json)) return json;
  const entries = Object.entries(json).slice(0, 200);
  return Object.fromEntries(entries.map(([name, one]) => [name, bounded(one, spent, depth + 1)]));
}
