import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type { ObscuredText } from '../../../electron/contract/obscured.ts';
import type { Api } from '../../lib/api.ts';

/** A connection's next API key: entered beside the one in use, which it replaces once it has opened a session. */
export class KeyRotation {
  expires = $state('');
  failure = $state.raw<Failure | null>(null);
  notice = $state('');
  readonly #api: Api;
  readonly #id: string;

  constructor(api: Api, connectionId: string) {
    this.#api = api;
    this.#id = connectionId;
  }

  /** The key is passed on and not kept here. */
  async rotate(value: ObscuredText): Promise<Failure | null> {
    const expires = this.expires === '' ? null : this.expires;
    return await this.#show(this.#api.call('connections.rotateKey', { id: this.#id, value, expires }));
  }

  async retry(): Promise<void> {
    await this.#show(this.#api.call('connections.tryNextKey', { id: this.#id }));
  }

  async forget(): Promise<void> {
    const outcome = await this.#api.call('connections.forgetNextKey', { id: this.#id });
    this.failure = outcome.ok ? null : outcome.failure;
    this.notice = outcome.ok ? 'The new key is removed. The one in use stays.' : '';
  }

  async #show(call: Promise<Outcome<unknown>>): Promise<Failure | null> {
    const outcome = await call;
    this.failure = outcome.ok ? null : outcome.failure;
    this.notice = outcome.ok ? 'The new key works and is in use. Revoke the old one in the portal.' : '';
    if (outcome.ok) this.expires = '';
    return this.failure;
  }
}
