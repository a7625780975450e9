import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { anyLine } from '../electron/audit/lines.ts';
import { encryptedSpec, sealedState } from '../electron/batch/storing/job-files.ts';
import { encryptedQueues } from '../electron/batch/storing/queue-file.ts';
import { attestation } from '../electron/contract/models/attestation.ts';
import { mapping } from '../electron/contract/models/mapping.ts';
import { deployment } from '../electron/contract/models/deployment.ts';
import { evidenceFile } from '../electron/contract/models/evidence-file.ts';
import { receipt } from '../electron/contract/models/receipt.ts';
import { runLine } from '../electron/contract/models/run-lines.ts';
import { failureCodes } from '../electron/contract/errors.ts';
import type { Retry } from '../src/messages/message.ts';
import { messageFor } from '../src/messages/messages.ts';
import { withSchemaMember } from './policy-templates.ts';
import { profileFields, profileSchema } from '../electron/service/profile-schema.ts';

/*
 * The JSON Schemas of the files and lines that Tokendesk writes, and the table of a profile's members in
 * docs/service-profile.md, made from the schemas that the app itself checks them with. `npm run schemas` writes all; tests
 * compare them. That of the policy is made with its templates, by `npm run policy-templates`.
 */

/** By the file's name under resources/schemas: title and schema. */
const formats: Readonly<Record<string, readonly [title: string, schema: z.ZodType]>> = {
  attestation: ['A signed statement on a workstation', attestation],
  'audit-line': ['A line of the audit log', anyLine],
  connections: ['A file of connections', deployment],
  evidence: ['Evidence on a case', evidenceFile],
  'job-state': ['How far a batch is: state.json', sealedState],
  job: ['A batch: job.json', encryptedSpec],
  mapping: ['A saved mapping', mapping],
  queues: ['Files that run together: queues.json', encryptedQueues],
  receipt: ['The receipt of a file', receipt],
  'run-line': ['A line of --json', runLine],
};

export function formatSchemas(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(formats).map(([name, [title, schema]]) => {
      const { $schema, ...made } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
      const whole = { $schema, title, ...made };
      return [`resources/schemas/${name}.schema.json`, `${JSON.stringify(whole, null, 2)}\n`];
    }),
  );
}

const begin = '<!-- members: made by `npm run schemas` -->';
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
    'resources/service-profile.schema.json': `${JSON.stringify(withSchemaMember(profileSchema()), null, 2)}\n`,
    'docs/service-profile.md': `${before}\n\n| Member | Meaning |\n| --- | --- |\n${memberTable()}\n\n${after}`,
  };
}

const retryWords: Readonly<Record<Retry, string>> = { now: 'at once', later: 'later', no: 'no' };

/** What each code means, for support: docs/messages.md, between its marks. */
export function messageDocument(before: string): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/(?=[*_<])/g, '\\');
  const rows = failureCodes.map((code) => {
    const { summary, advice, retry } = messageFor({ code });
    return `| \`${code}\` | ${cell(summary)} | ${cell(advice)} | ${retryWords[retry]} |`;
  });
  const table = [
    '| Code | What a person reads | What to do | Trying again helps |',
    '| --- | --- | --- | --- |',
    ...rows,
  ];
  const [head = ''] = before.split(messagesMark);
  return `${head}${messagesMark}\n\n${table.join('\n')}\n`;
}

const messagesMark = '<!-- codes: made by `npm run schemas` -->';

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = path.resolve(import.meta.dirname, '..');
  const docs = fs.readFileSync(path.join(root, 'docs/service-profile.md'), 'utf8');
  for (const [file, text] of Object.entries({ ...profileDocuments(docs), ...formatSchemas() }))
    fs.writeFileSync(path.join(root, file), text);
  const messages = path.join(root, 'docs/messages.md');
  fs.writeFileSync(messages, messageDocument(fs.readFileSync(messages, 'utf8')));
}
