import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createBillOfMaterials, shippedPackages } from '../../scripts/sbom.ts';
import electron from '../../node_modules/electron/package.json' with { type: 'json' };
import pkg from '../../package.json' with { type: 'json' };

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the bill of materials', () => {
  const bill = createBillOfMaterials(root);
  const listed = bill.components.map((component) => component['bom-ref']);
  const product = `${pkg.name}@${pkg.version}`;

  test('lists what is in the bundles and Electron, each once', () => {
    expect(listed.toSorted()).toEqual([...shippedPackages(root), `electron@${electron.version}`].sort());
  });

  test('says of each component where it comes from and its SHA-512', () => {
    const odd = bill.components.filter(({ purl, hashes }) => {
      const first: unknown = Array.isArray(hashes) ? hashes[0] : undefined;
      return !String(purl).startsWith('pkg:npm/') || !JSON.stringify(first ?? '').includes('SHA-512');
    });
    expect(odd).toEqual([]);
  });

  test('leads from the product to every component', () => {
    const next = new Map(bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set([product]);
    for (const ref of reached) for (const other of next.get(ref) ?? []) reached.add(other);
    expect(bill.metadata.component).toMatchObject({ 'bom-ref': product, name: pkg.name });
    expect([...reached].sort()).toEqual([product, ...listed].sort());
  });
});
