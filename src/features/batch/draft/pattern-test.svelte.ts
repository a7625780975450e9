import { obscureText, newXorKey } from '../../../../electron/contract/obscured.ts';
import type { Failure } from '../../../../electron/contract/errors.ts';
import type { Api } from '../../../api.ts';

/** One expression, tried by main on made-up samples and on what the person types beside them. */
export class PatternTest {
  samples = $state.raw<readonly string[]>([]);
  /** In the order of the samples; null while there is no expression, or main has not answered. */
  matches = $state.raw<readonly boolean[] | null>(null);
  /** Whether the person's own sample matches; null while there is none. */
  own = $state<boolean | null>(null);
  /** Why the expression is refused. */
  failure = $state.raw<Failure | null>(null);
  /** Reads the person's own sample from its field: it is cleartext, and kept nowhere else. */
  readOwn: () => string = () => '';

  readonly #api: Api;
  #turn = 0;
  #pattern: string | null = null;

  constructor(api: Api) {
    this.#api = api;
  }

  count = $derived(this.matches?.filter(Boolean).length ?? 0);

  /** False when it was asked again before main had answered. */
  async try(pattern: string | null, samples: readonly string[]): Promise<boolean> {
    this.#pattern = pattern;
    this.samples = samples;
    return await this.again();
  }

  /** The same expression, since the person's own sample changed. */
  async again(): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    const pattern = this.#pattern;
    if (pattern === null) {
      this.#take(null, null, null);
      return true;
    }
    const text = this.readOwn();
    const xorKey = newXorKey();
    const own = text === '' ? null : { xorKey, obscured: obscureText(text, xorKey) };
    const outcome = await this.#api.call('batch.testPattern', { pattern, samples: [...this.samples], own });
    if (turn !== this.#turn) return false;
    if (outcome.ok) this.#take(outcome.value.matches, outcome.value.own, null);
    else this.#take(null, null, outcome.failure);
    return true;
  }

  #take(matches: readonly boolean[] | null, own: boolean | null, failure: Failure | null): void {
    this.matches = matches;
    this.own = own;
    this.failure = failure;
  }
}
