import type { ImportItem } from '../../electron/contract/models/import-item.ts';

/** Members of a connection, as the page Connections calls them. */
const memberLabels: Readonly<Record<string, string>> = {
  name: 'name',
  environment: 'environment',
  baseUrl: 'base URL',
  extraCa: 'certificate authority',
  proxyUser: 'proxy user name',
  policies: 'policies',
  definitions: 'token definitions',
  accountId: 'account ID',
  tenantId: 'tenant ID',
  apiKeyExpires: 'expiration date of the API key',
  requestsPerSecond: 'requests per second',
  transfersPerDay: 'transfers per day',
  profile: 'service profile',
};

export const listMembers = (members: readonly string[]): string =>
  members.map((name) => memberLabels[name] ?? name).join(', ');

const refusals: Readonly<Record<Exclude<ImportItem['code'], ''>, string>> = {
  'connection.environment': 'it would lower the environment',
  'connection.host': 'its host is none of those that are allowed',
  'connection.built-in': 'its name is that of the built-in service',
  'connection.invalid': 'its address or another member is not valid',
  'file.unwritable': 'it could not be saved here',
  'settings.managed': 'your administrator has fixed what it would change',
};
export const whyRefused = ({ code }: Pick<ImportItem, 'code'>): string => (code === '' ? '' : refusals[code]);

/** What this start made of a connection of the administrator's; null where nothing is to be said of it. */
export function providedNotice(item: ImportItem): string | null {
  const { name, change, members, forgetsSecrets } = item;
  switch (change) {
    case 'refused':
      return `Your administrator provides the connection ${name}, but it can’t be used: ${whyRefused(item)}. Tell your administrator.`;
    case 'changed': {
      const what = members.length === 0 ? '' : `: ${listMembers(members)}`;
      const secrets = forgetsSecrets ? ' Its secrets have to be entered again.' : '';
      return `Your administrator has changed the connection ${name}${what}.${secrets}`;
    }
    case 'new':
      return `Your administrator provides the connection ${name}. Enter its secrets under Connections.`;
    case 'same':
      return null;
  }
}
