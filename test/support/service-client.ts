import { Pool, type Dispatcher } from 'undici';
import type { ServiceFacts } from '../../electron/built-in-service/service.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** A plain client, of the tests' own: it shares nothing with the app's. */
export function connect(facts: Pick<ServiceFacts, 'baseUrl' | 'caPem' | 'apiKey' | 'policies'>) {
  const pool = new Pool(facts.baseUrl, { connect: { ca: facts.caPem }, connections: 16 });

  const send = async (
    method: Dispatcher.HttpMethod,
    path: string,
    body: string | Buffer | null = null,
    headers: Record<string, string> = { 'content-type': 'application/json' },
  ): Promise<Answer> => {
    const response = await pool.request({ method, path, body, headers });
    const text = await response.body.text();
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = { notJson: text };
    }
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      body: parsed as Record<string, unknown>,
    };
  };

  const call = (operation: string, body: unknown, headers: Record<string, string> = {}) =>
    send('POST', `/api/services/evtservice/${operation.toLowerCase()}`, JSON.stringify(body), {
      'content-type': 'application/json',
      ...headers,
    });

  const credentials = (policy: string) => {
    const found = facts.policies.find((one) => one.name === policy);
    if (!found) throw new Error(`No policy ${policy}.`);
    return { apiKey: facts.apiKey.value, policy, policyPassword: found.password };
  };

  const signIn = async (policy: string): Promise<string> => {
    const { status, body } = await call('CreateSession', credentials(policy));
    if (status !== 200) throw new Error(`CreateSession answered ${status}.`);
    return body.sessionToken as string;
  };

  return { send, call, credentials, signIn, close: () => pool.close() };
}
export type Client = ReturnType<typeof connect>;
