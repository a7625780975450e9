import type { OperationName, Parameter } from '../../service/operations.ts';

/** What an example may be of: an operation, or one of the portal's three that a profile describes. */
export type Subject = OperationName | PortalSubject;
export const portalSubjects = [
  'Authenticate',
  'AggregateApiRequestMetrics',
  'QueryLastFailedRequests',
] as const;
export type PortalSubject = (typeof portalSubjects)[number];

/** How well a name fits, by the first pattern that does. Names are compared in lower case, without separators. */
type Scores = readonly (readonly [RegExp, number])[];

const session: Scores = [
  [/session/, 9],
  [/^sid$|ticket|jwt|bearer|accesstoken|authtoken|handle/, 6],
  [/auth|token|access/, 2],
];
const definition: Scores = [
  [/tokenname|definition/, 10],
  [/template|dataset|vault|scheme|tokentype|format|dataclass|datatype|domain|kind|class|type|container/, 6],
  [/name|field/, 3],
];
const token: Scores = [
  [/^(?:token|tokenvalue|tkn|tok|surrogate|alias)$/, 10],
  [/(?<!de|un)token|tkn|surrogate|alias|pseudonym|protected/, 7],
  [/value|data|input|text|payload|result|output|out$/, 3],
];
const clear: Scores = [
  [/^(?:value|plaintext|cleartext|plain|clear)$/, 10],
  [/plain|clear|value|raw|sensitive|original|reveal|detoken/, 7],
  [/^(?:data|text|input|pan|payload|content|subject|in)$/, 6],
  [/data|text|input|pan|number|src|result|output|out$/, 3],
];
const password: Scores = [
  [/polic\w*(?:pass|pwd|pw|secret)/, 10],
  [/pass(?:word|phrase|wd)?|pwd|kennwort/, 8],
  [/secret|pin$/, 4],
];

export const parameterNames: Readonly<Record<Parameter, Scores>> = {
  apiKey: [
    [/apikey|accesskey|clientkey/, 10],
    [/^key$|keyid|clientsecret|apitoken|licence|license/, 6],
    [/credential|secret|key|clientid|appid/, 3],
  ],
  policy: [
    [/^polic(?:y|yname|yid)$/, 10],
    [/polic(?!\w*(?:pass|pwd|pw|secret))/, 8],
    [/profile|role|scope|principal|user|login/, 4],
  ],
  policyPassword: password,
  sessionToken: session,
  sourceSessionToken: session,
  targetSessionToken: session,
  tokenName: definition,
  sourceTokenName: definition,
  targetTokenName: definition,
  value: clear,
  tokenValue: token,
  regex: [
    [/regex|regexp|regularexpression|pattern/, 10],
    [/expr|^rx$|filter|match|query|search|find|like/, 6],
  ],
  elements: [
    [/elements|items|rows|values|entries|records|batch/, 10],
    [/./, 5],
  ],
};

export const reportNames = {
  user: [
    [/^user(?:name)?$|login/, 10],
    [/user|mail|account|name/, 4],
  ],
  password,
  accountId: [
    [/account/, 10],
    [/client|customer/, 4],
  ],
  tenantId: [
    [/tenant/, 10],
    [/organi[sz]ation|workspace/, 4],
  ],
  startDate: [[/^start|since|begin|^from$|datefrom|fromdate|startdate/, 10]],
  endDate: [[/^end|until|till|^to$|dateto|todate|enddate/, 10]],
  groupBy: [
    [/group/, 10],
    [/^by$|dimension|aggregat|interval/, 6],
  ],
  max: [
    [/max|limit/, 10],
    [/count|size|top|take/, 6],
  ],
} as const satisfies Record<string, Scores>;

export const answerNames = {
  session,
  token,
  cleartext: clear,
  mask: [
    [/mask|redact|obscur|hidden|preview|display|partial/, 10],
    [/value|result|data|text|out/, 3],
  ],
  ref: [
    [/ref|correlation/, 10],
    [/^(?:id|key|seq|index|row|line|no|nr|item(?:id)?|uid)$/, 8],
    [/id$|key$|number$/, 3],
  ],
} as const satisfies Record<string, Scores>;

/** Columns of the two reports, by the member of the profile that lists their names. */
export const columnNames = {
  day: [[/day|date|period/, 8]],
  definition: [
    [/definition|tokenname/, 10],
    [/vault|template/, 6],
  ],
  operation: [[/operation|method|action|call/, 8]],
  succeeded: [[/succe|^ok|good|passed/, 8]],
  failed: [[/fail|error|bad/, 8]],
  requests: [[/request|count|total|calls|hits/, 8]],
  at: [[/time|date|^at$|when|created|occurred/, 8]],
  status: [[/status|http/, 8]],
  code: [[/code|error|reason/, 8]],
  requestId: [[/requestid|trace|correlation/, 8]],
} as const satisfies Record<string, Scores>;

const what = {
  session: [[/session|sign-?in|log-?in|logon|handshake|auth/, 6]],
  detokenize: [
    [/detoken|untoken|unprotect|reveal|decode|decrypt|unseal|restore|resolve|expose|unmask|cleartext/, 8],
  ],
  tokenize: [
    [/(?<!de|un|re)tokeni[sz]e|tokeni[sz]ation/, 8],
    [/(?<!un)protect|(?<!de|un)encode|encrypt|conceal|substitut|pseudonym|(?<!un)seal/, 7],
    [/^create|store|vaulting|enrol/, 3],
  ],
  mask: [[/(?<!un)mask|redact|obfuscat|preview|partial/, 8]],
  translate: [[/translat|convert|retoken|rekey|exchange|remap|move|transform|migrat|swap/, 8]],
  match: [[/pattern|match|regex|search|filter|grep|find/, 8]],
} as const satisfies Record<string, Scores>;

/** Words that say what a call does. */
export const subjectNames: Readonly<Record<Subject, Scores>> = {
  CreateSession: what.session,
  Tokenize: what.tokenize,
  Detokenize: what.detokenize,
  GetMasked: what.mask,
  Translate: what.translate,
  BatchTokenize: what.tokenize,
  BatchDetokenize: what.detokenize,
  BatchTranslate: what.translate,
  PatternMatch: what.match,
  Authenticate: [
    [/authenticate/, 8],
    [/portal|log-?in|sign-?in|jwt/, 6],
  ],
  AggregateApiRequestMetrics: [[/metric|usage|statistic|aggregat|report/, 8]],
  QueryLastFailedRequests: [[/fail|error/, 8]],
};

export const flat = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\d]/gu, '');

export const scoreOf = (scores: Scores, name: string): number =>
  scores.find(([pattern]) => pattern.test(flat(name)))?.[1] ?? 0;

const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u);

const sides = {
  source: ['source', 'src', 'from', 'origin', 'old', 'input', 'current'],
  target: ['target', 'tgt', 'dest', 'destination', 'to', 'new', 'output', 'goal', 'into'],
} as const;

/** Which of two sides a name speaks of; null where it speaks of neither. */
export function sideOf(name: string): 'source' | 'target' | null {
  const words = wordsOf(name);
  const small = flat(name);
  for (const side of ['source', 'target'] as const)
    if (sides[side].some((one) => words.includes(one) || (one.length > 2 && small.startsWith(one))))
      return side;
  return null;
}
