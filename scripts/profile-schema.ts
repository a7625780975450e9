import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { profileFields, profileSchema } from '../electron/service/profile-schema.ts';

/*
 * The JSON Schema of a service profile and the table of its members in docs/service-profile.md, made from the schema that
 * the app checks profiles with and makes its form of. `npm run profile-schema` writes both; a test compares them.
 */

const begin = '<!-- members: made by `npm run profile-schema` -->';
const end = '<!-- end of members -->';

/** Operations that differ in names alone share their lines. */
function memberTable(): string {
  const lines = new Map<string, string>();
  for (const { path: place, description } of profileFields()) {
    const [first, second, ...rest] = place;
    const isOperation = first === 'operations' && rest.join('.') !== 'returns';
    const shown = isOperation
      ? ['operations', '<name>', ...(rest[0] === 'request' ? ['request', '<parameter>'] : rest)]
      : [first, second, ...rest];
    const name = shown.filter((one) => one !== undefined).join('.');
    const known = lines.get(name);
    // The wording that is of most operations is the one of the last that are for one value.
    if (known === undefined || (isOperation && second === 'Detokenize')) lines.set(name, description);
  }
  return [...lines]
    .map(([name, description]) => `| \`${name}\` | ${description.replaceAll('|', '\\|')} |`)
    .join('\n');
}

/** Files of the project, and what must stand in them. */
export function profileDocuments(docs: string): Record<string, string> {
  const before = docs.slice(0, docs.indexOf(begin) + begin.length);
  const after = docs.slice(docs.indexOf(end));
  return {
    'resources/service-profile.schema.json': `${JSON.stringify(profileSchema(), null, 2)}\n`,
    'docs/service-profile.md': `${before}\n\n| Member | Meaning |\n| --- | --- |\n${memberTable()}\n\n${after}`,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = path.resolve(import.meta.dirname, '..');
  const docs = fs.readFileSync(path.join(root, 'docs/service-profile.md'), 'utf8');
  for (const [file, text] of Object.entries(profileDocuments(docs)))
    fs.writeFileSync(path.join(root, file), text);
}
