import type { CDPSession } from '@playwright/test';

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: string[];
      readonly node_types: [string[], ...unknown[]];
      readonly edge_fields: string[];
    };
  };
  readonly nodes: number[];
  readonly edges: number[];
  readonly strings: string[];
}

/**
 * Every string in a page's JavaScript heap. A string put together from others is kept as a pair and its text is not
 * in the snapshot's table: those are put together here by walking the pairs.
 */
export async function heapStrings(protocol: CDPSession): Promise<string[]> {
  const chunks: string[] = [];
  const hear = ({ chunk }: { chunk: string }): void => void chunks.push(chunk);
  protocol.on('HeapProfiler.addHeapSnapshotChunk', hear);
  await protocol.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  protocol.off('HeapProfiler.addHeapSnapshotChunk', hear);
  const { snapshot, nodes, edges, strings } = JSON.parse(chunks.join('')) as Snapshot;

  const { node_fields: fields, edge_fields: edgeFields, node_types: types } = snapshot.meta;
  const width = fields.length;
  const edgeWidth = edgeFields.length;
  const at = (name: string): number => fields.indexOf(name);
  const [typeAt, nameAt, countAt] = [at('type'), at('name'), at('edge_count')];
  const target = edgeFields.indexOf('to_node');
  const joined = types[0].indexOf('concatenated string');

  const firstEdge = new Map<number, number>();
  for (let node = 0, edge = 0; node < nodes.length; node += width) {
    firstEdge.set(node, edge);
    edge += (nodes[node + countAt] ?? 0) * edgeWidth;
  }
  function textOf(node: number, depth: number): string {
    if (nodes[node + typeAt] !== joined || depth > 200) return strings[nodes[node + nameAt] ?? 0] ?? '';
    const from = firstEdge.get(node) ?? 0;
    const parts = Array.from({ length: nodes[node + countAt] ?? 0 }, (_, index) => {
      const to = edges[from + index * edgeWidth + target] ?? 0;
      return (types[0][nodes[to + typeAt] ?? 0] ?? '').includes('string') ? textOf(to, depth + 1) : '';
    });
    return parts.join('');
  }
  const pairs: string[] = [];
  for (let node = 0; node < nodes.length; node += width)
    if (nodes[node + typeAt] === joined) pairs.push(textOf(node, 0));
  return [...strings, ...pairs];
}
