import type { ConfigurationForm, ToolServer } from '../contract/models/report.ts';

export const toolServerAddress = (baseUrl: string): string => `${baseUrl.replace(/\/+$/, '')}/mcp`;

/** Where the token goes, in a configuration that is shown. */
const tokenPlaceholder = '<JWT_TOKEN>';
const authorityFile = '/path/to/authority.pem';
const serverName = 'tokenization-service';

interface ClientConfiguration {
  readonly baseUrl: string;
  readonly form: ConfigurationForm;
  readonly transport: ToolServer['transport'];
  /** Whether the service has a certificate of an authority that systems don't know. */
  readonly hasAuthority: boolean;
  readonly token?: string;
}

/**
 * For a client's settings file. A bridge is a program that speaks to the client over its own input and output; it gets
 * the token in its environment, since any user of the computer may read its arguments.
 */
export function clientConfiguration({
  baseUrl,
  form,
  transport,
  hasAuthority,
  token = tokenPlaceholder,
}: ClientConfiguration): string {
  const url = toolServerAddress(baseUrl);
  const server = {
    type: transport === 'streamable-http' ? 'http' : 'sse',
    url,
    headers: { Authorization: `Bearer ${token}` },
  };
  const bridge = {
    command: 'npx',
    // eslint-disable-next-line no-template-curly-in-string -- the bridge fills it in
    args: ['-y', 'mcp-remote', url, '--header', 'Authorization:Bearer ${JWT_TOKEN}'],
    env: { JWT_TOKEN: token, ...(hasAuthority && { NODE_EXTRA_CA_CERTS: authorityFile }) },
  };
  const file = {
    client: { mcpServers: { [serverName]: server } },
    editor: { servers: { [serverName]: server } },
    bridge: { mcpServers: { [serverName]: bridge } },
  }[form];
  return JSON.stringify(file, null, 2);
}
