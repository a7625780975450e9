import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import pkg from '../package.json' with { type: 'json' };

/*
 * Writes out/sbom.json, the bill of materials of what is shipped, in CycloneDX: `npm run sbom`, after a build. npm
 * lists what the lock file holds; kept is what the bundles hold, and Electron, which they run on.
 */

const component = z.looseObject({ 'bom-ref': z.string(), name: z.string(), version: z.string() });
const billOfMaterials = z.looseObject({
  bomFormat: z.literal('CycloneDX'),
  metadata: z.looseObject({ component }),
  components: z.array(component),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
export type BillOfMaterials = z.infer<typeof billOfMaterials>;

/**
 * What of npm's packages is in the built tree under `root`, sorted, as `name@version`: read from the licence lists that
 * the build leaves beside the bundles. Throws where nothing is built.
 */
export function shippedPackages(root: string): string[] {
  const list = z.array(z.object({ name: z.string(), version: z.string() }));
  const found = ['main', 'renderer'].flatMap((folder) =>
    list.parse(JSON.parse(fs.readFileSync(path.join(root, 'dist', folder, 'licences.json'), 'utf8'))),
  );
  return [...new Set(found.map(({ name, version }) => `${name}@${version}`))].sort();
}

/** The bill of what is built in `root`. Needs npm and the lock file, and no network. Throws where one is missing. */
export function createBillOfMaterials(root: string): BillOfMaterials {
  const all = installedPackages(root);
  const electron = all.components.find(({ name }) => name === 'electron');
  if (electron === undefined) throw new Error('Electron is not in the lock file');
  const shipped = new Set([...shippedPackages(root), electron['bom-ref']]);
  const product = { ...all.metadata.component, name: pkg.name };
  // Two bills of the same content are the same bytes: neither has a number or a time of its own.
  const { timestamp: _time, ...metadata } = all.metadata;
  const { serialNumber: _number, ...rest } = all;
  // A package that stands in two folders is listed twice.
  const components = new Map(all.components.map((one) => [one['bom-ref'], one]));
  const dependencies = new Map(all.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  return {
    ...rest,
    metadata: { ...metadata, component: product },
    components: [...components.values()]
      .filter((one) => shipped.has(one['bom-ref']))
      .map((one) => ({ ...one, scope: 'required' })),
    dependencies: [product['bom-ref'], ...shipped].map((ref) => ({
      ref,
      dependsOn: (dependencies.get(ref) ?? []).filter((other) => shipped.has(other)),
    })),
  };
}

/** Everything in the lock file: `npm sbom --omit dev` also leaves out what both the product and a tool need. */
function installedPackages(root: string): BillOfMaterials {
  const options = ['--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const text = execFileSync('npm', ['sbom', ...options], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
    // npm is a script on Windows.
    shell: process.platform === 'win32',
  });
  return billOfMaterials.parse(JSON.parse(text));
}

/** Answers what it wrote. */
export function writeBillOfMaterials(root: string, file: string): BillOfMaterials {
  const bill = createBillOfMaterials(root);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  // Whoever packs at the same time reads all of it.
  const whole = `${file}.${process.pid}`;
  fs.writeFileSync(whole, JSON.stringify(bill, null, 2));
  fs.renameSync(whole, file);
  return bill;
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const file = path.join(root, 'out', 'sbom.json');
  const bill = writeBillOfMaterials(root, file);
  console.log(`${bill.components.length} components in ${path.relative(process.cwd(), file)}`);
}
