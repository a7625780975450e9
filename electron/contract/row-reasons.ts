import type { FailureCode } from './errors.ts';

/** Why a row or cell failed, in a few words: in the window, where the row is shown beside it, and in the list of errors. */
export const rowReasons: Partial<Record<FailureCode, string>> = {
  'value.unencodable': 'The encoding of the file has not all characters of the result',
  'value.unfit': 'Does not fit the definition, not sent',
  'row.malformed': 'More or fewer fields than the header',
  'row.unclosed-quote': 'A quote never closes',
  'row.field-too-long': 'A field is too long',
  'row.bad-encoding': 'Characters do not fit the encoding',
  'row.nul': 'Has NUL characters',
  'service.element-refused': 'Refused by the service',
  'service.invalid-input': 'Not accepted by the service',
  'service.too-large': 'Too large for the service',
  'service.not-found': 'Not known to the service',
  'service.refused': 'The policy does not grant this',
  'service.failing': 'The service had trouble',
  'service.empty-value': 'The service answered with an empty value',
  'service.broken-value': 'The service answered with damaged text',
  'service.echoed-value': 'The service answered with the value that was sent',
  'service.busy': 'The request limit was reached',
  'service.timeout': 'No answer in time',
  'service.mismatched-answer': 'The answer did not fit the question',
};
