import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { managedSettings, type ManagedName } from '../electron/contract/models/app.ts';

/*
 * What administrators need to fix settings, made from the schema that the app checks them with: a JSON schema of
 * policy.json, an administrative template (ADMX and its English words, ADML) for group policy and Intune, and a property
 * list for device management on macOS. `node scripts/policy-templates.ts` writes them into resources/policy.
 */

interface Member {
  readonly name: ManagedName;
  readonly description: string;
  readonly type: 'boolean' | 'integer' | 'string' | 'array';
  readonly choices: readonly string[];
  readonly minimum: number;
  readonly maximum: number;
  readonly maxLength: number;
}

const jsonSchema = z.toJSONSchema(managedSettings) as {
  properties: Record<ManagedName, Partial<Member> & { enum?: string[] }>;
};
const members: readonly Member[] = Object.entries(jsonSchema.properties).map(([name, property]) => ({
  name: name as ManagedName,
  description: property.description ?? '',
  type: property.type ?? 'string',
  choices: property.enum ?? [],
  minimum: property.minimum ?? 0,
  maximum: property.maximum ?? 0,
  maxLength: property.maxLength ?? 500,
}));

/** An example of each, as it may be written into a file. */
const examples: Record<ManagedName, unknown> = {
  caseRequired: true,
  reasons: ['Chargeback response', 'Refund'],
  revealSeconds: 15,
  clipboardSeconds: 15,
  lockAfterMinutes: 5,
  keepResultsDays: 90,
  passphraseRequired: true,
  cleartextExport: 'encrypted',
  remainingCleartext: 'reason',
  bulkMatch: false,
  maxRevealsPerDay: 100,
  maxCopiesPerDay: 20,
  maxExportedRowsPerDay: 10_000,
  maxMatchAnswersPerDay: 100_000,
  maxExpressionsPerDay: 3,
  maxGuessesPerDay: 10_000,
  secondPerson: ['export from 100 in production', 'match in production'],
  approvers: ['9c1e5b7d20f84a36e8d3c5f0719ab2647e0d8c51f36b92a4d7e80c1f5a3b6d29 Dana Reyes'],
  allowedHosts: ['tokens.example.com', '*.eu.example.com'],
  connectionsFile: '/mnt/it/tokendesk/connections.json',
  connectionsSigners: ['5f0c9a47e1b3d28c6a90f4e7d215b8c3a6f19e04d7b28c5f3e6a1d90b47c82ef'],
  extraCa: false,
  openPgp: false,
  tokenStory: false,
  profileImport: false,
  webhookPort: 9443,
  webhookAddress: '127.0.0.1',
  webhookCertificate: '/etc/tokendesk/webhooks.pem',
  builtInService: false,
  updateNotice: 'New versions are in the software catalogue.',
};

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
/** `maxRevealsPerDay` as `Max reveals per day`. */
const title = (name: string): string => {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** The content of each file, by its path below the folder. */
export function policyTemplates(): Record<string, string> {
  return {
    'policy.schema.json': `${JSON.stringify({ ...withSchemaMember(jsonSchema), ...together }, null, 2)}\n`,
    'policy.example.json': `${JSON.stringify(examples, null, 2)}\n`,
    'Tokendesk.admx': admx(),
    'en-US/Tokendesk.adml': adml(),
    'app.tokendesk.plist': plist(),
  };
}

/** As `flawsTogether` of the app has it. */
const together = {
  dependentRequired: { connectionsFile: ['connectionsSigners'], connectionsSigners: ['connectionsFile'] },
};

/** A file may name its schema: with one that forbids other members, an editor would call that wrong. */
export const withSchemaMember = <T extends { readonly properties?: object }>(schema: T): T => ({
  ...schema,
  properties: { $schema: { type: 'string' }, ...schema.properties },
});

const registryKey = 'Software\\Policies\\Tokendesk';

function admx(): string {
  const policies = members.map(({ name, type, choices, minimum, maximum, maxLength }) => {
    const head = `    <policy name="${name}" class="Machine" displayName="$(string.${name})" explainText="$(string.${name}Help)"`;
    const place = `key="${registryKey}"`;
    const tail = '      <parentCategory ref="Tokendesk" />\n      <supportedOn ref="Supported" />\n';
    if (type === 'boolean')
      return `${head} ${place} valueName="${name}">\n${tail}      <enabledValue><decimal value="1" /></enabledValue>\n      <disabledValue><decimal value="0" /></disabledValue>\n    </policy>\n`;
    const element =
      type === 'integer'
        ? `<decimal id="${name}" valueName="${name}" minValue="${minimum}" maxValue="${maximum}" required="true" />`
        : type === 'array'
          ? `<multiText id="${name}" valueName="${name}" required="true" />`
          : choices.length > 0
            ? `<enum id="${name}" valueName="${name}" required="true">\n${choices.map((choice) => `          <item displayName="$(string.${name}_${choice})"><value><string>${choice}</string></value></item>\n`).join('')}        </enum>`
            : `<text id="${name}" valueName="${name}" required="true" maxLength="${maxLength}" />`;
    return `${head} presentation="$(presentation.${name})" ${place}>\n${tail}      <elements>\n        ${element}\n      </elements>\n    </policy>\n`;
  });
  return `<?xml version="1.0" encoding="utf-8"?>
<policyDefinitions xmlns="http://schemas.microsoft.com/GroupPolicy/2006/07/PolicyDefinitions" revision="1.0" schemaVersion="1.0">
  <policyNamespaces>
    <target prefix="tokendesk" namespace="Tokendesk.Policies" />
  </policyNamespaces>
  <resources minRequiredRevision="1.0" />
  <supportedOn>
    <definitions>
      <definition name="Supported" displayName="$(string.Supported)" />
    </definitions>
  </supportedOn>
  <categories>
    <category name="Tokendesk" displayName="$(string.Tokendesk)" />
  </categories>
  <policies>
${policies.join('')}  </policies>
</policyDefinitions>
`;
}

function adml(): string {
  const strings = members.flatMap(({ name, description, choices }) => [
    [name, title(name)],
    [`${name}Help`, description],
    ...choices.map((choice) => [`${name}_${choice}`, title(choice)]),
  ]);
  const presentations = members.flatMap(({ name, type, choices }) => {
    const label = escapeXml(title(name));
    if (type === 'boolean') return [];
    const element =
      type === 'integer'
        ? `<decimalTextBox refId="${name}">${label}</decimalTextBox>`
        : type === 'array'
          ? `<multiTextBox refId="${name}">${label}</multiTextBox>`
          : choices.length > 0
            ? `<dropdownList refId="${name}" noSort="true">${label}</dropdownList>`
            : `<textBox refId="${name}"><label>${label}</label></textBox>`;
    return [`      <presentation id="${name}">${element}</presentation>\n`];
  });
  const all = [['Tokendesk', 'Tokendesk'], ['Supported', 'Every version of Tokendesk'], ...strings];
  return `<?xml version="1.0" encoding="utf-8"?>
<policyDefinitionResources xmlns="http://schemas.microsoft.com/GroupPolicy/2006/07/PolicyDefinitions" revision="1.0" schemaVersion="1.0">
  <displayName>Tokendesk</displayName>
  <description>What an administrator may fix in Tokendesk.</description>
  <resources>
    <stringTable>
${all.map(([id = '', text = '']) => `      <string id="${id}">${escapeXml(text)}</string>\n`).join('')}    </stringTable>
    <presentationTable>
${presentations.join('')}    </presentationTable>
  </resources>
</policyDefinitionResources>
`;
}

/** For a configuration profile with the preference domain app.tokendesk; what is not wanted is taken out. */
function plist(): string {
  const value = (of: unknown): string => {
    if (typeof of === 'boolean') return of ? '<true/>' : '<false/>';
    if (typeof of === 'number') return `<integer>${of}</integer>`;
    if (Array.isArray(of)) return `<array>${of.map(value).join('')}</array>`;
    return `<string>${escapeXml(String(of))}</string>`;
  };
  const entries = members.map(
    ({ name, description }) =>
      `  <!-- ${escapeXml(description)} -->\n  <key>${name}</key>\n  ${value(examples[name])}\n`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
${entries.join('')}</dict>
</plist>
`;
}

export const templateFolder = fileURLToPath(new URL('../resources/policy/', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(policyTemplates())) {
    fs.mkdirSync(path.dirname(path.join(templateFolder, name)), { recursive: true });
    fs.writeFileSync(path.join(templateFolder, name), text);
  }
}
