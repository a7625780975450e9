/** What may be spent before anything was earned: a lone lookup deserves a second try. */
const LOAN = 5;
const SHARE = 0.1;
/** Savings of a good hour are not for making a bad minute worse. */
const MOST = 100;
/** Loans come back slowly, for people, who send little. */
const TRICKLE_MS = 60_000;

/**
 * Bounds what retries add to what was asked for: one for each ten requests, once the loan is paid back. So the requests
 * that arrive stay within 1.1 times those meant, whatever fails.
 */
export class RetryBudget {
  #balance = LOAN;
  #debt = LOAN;
  #paidAt: number;

  constructor(now: number) {
    this.#paidAt = now;
  }

  /** A request that is no retry. */
  earn(): void {
    if (this.#debt > 0) this.#debt -= SHARE;
    else this.#balance = Math.min(MOST, this.#balance + SHARE);
  }

  /** Whether one more retry may be sent; takes it from the budget if so. */
  spend(now: number): boolean {
    const minutes = Math.floor((now - this.#paidAt) / TRICKLE_MS);
    if (minutes > 0) {
      this.#paidAt += minutes * TRICKLE_MS;
      if (this.#balance < LOAN) this.#balance = Math.min(LOAN, this.#balance + minutes);
    }
    if (this.#balance < 1) return false;
    this.#balance -= 1;
    return true;
  }
}
