import type { Failure, FailureCode } from '../../../contract/errors.ts';

/** Ends the reading of a workbook from within a parser's callback; `convertSheet` turns it into an outcome. */
export class Refusal extends Error {
  readonly failure: Failure;

  constructor(code: FailureCode, subject?: string) {
    super(code);
    this.failure = subject === undefined ? { code } : { code, subject };
  }
}
