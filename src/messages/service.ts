import type { Failure, FailureCode } from '../../electron/contract/errors.ts';
import { isOperation, operationInfo } from '../../electron/contract/operations.ts';
import { formatWait, message, type Format, type Message } from './message.ts';

const policyOf = (f: Failure): string => (f.policy === undefined ? 'The policy' : `Policy ${f.policy}`);
const infoOf = ({ operation = '' }: Failure) =>
  isOperation(operation) ? operationInfo[operation] : undefined;
const host = (f: Failure): string => f.subject ?? 'the service';

/** `flaw` is the platform's error code of the TLS failure; it is not shown. */
function certificateMessage(flaw: string): Message {
  if (flaw.includes('_ALERT_'))
    return message(
      'The service did not accept the secure connection, so nothing was sent.',
      'If it asks for a client certificate, choose one under Connections; otherwise ask the administrator.',
    );
  if (flaw.includes('EXPIRED'))
    return message(
      'The certificate of the service has expired, so nothing was sent.',
      'Tell the administrator.',
    );
  if (flaw.includes('ALTNAME'))
    return message(
      'The certificate of the service is for another address, so nothing was sent.',
      'Check the base URL of the connection, or ask the administrator.',
    );
  return message(
    'The certificate of the service is not trusted here, so nothing was sent.',
    'If your company uses its own certificate authority, add it to the connection; otherwise ask the administrator.',
  );
}

function formatRefused(f: Failure): string {
  const act = infoOf(f)?.verb ?? 'do this';
  const on = act === 'do this' ? 'here' : (f.definition ?? 'this definition');
  return `The service refused this: ${f.policy === undefined ? 'this policy' : `policy ${f.policy}`} may not ${act} ${on}.`;
}

/** A refused token is the commonest of all failures: its sentence names what a person can change. */
function tokenMessage(f: Failure): Message {
  const kind = f.definition === undefined ? 'token' : `${f.definition} token`;
  return message(
    `The service doesn’t recognise this as a ${kind}${formatCodes(f)}.`.replace(/ a ([AEIO])/, ' an $1'),
    'Check the token or choose another definition.',
  );
}

function invalidMessage(f: Failure): Message {
  if (f.fields?.some(({ name }) => name === 'tokenValue') === true) return tokenMessage(f);
  return message(formatInvalid(f), 'Correct the value and try again.');
}

/** The service's own reason: its messages, and its codes where they have no sentence here. */
function formatInvalid(f: Failure): string {
  const messages = (f.fields ?? []).map((field) => field.message).join('; ');
  return messages === ''
    ? `The service did not accept the value${formatCodes(f)}.`
    : `The service did not accept this: ${messages}${formatCodes(f)}.`;
}

const formatCodes = ({ code, codes = [] }: Failure): string =>
  code === 'service.invalid-input' && codes.length > 0 ? ` (${codes.join(', ')})` : '';

function clockHint({ clockSkewMs }: Failure): string {
  if (clockSkewMs === undefined) return '';
  const minutes = Math.max(1, Math.round(Math.abs(clockSkewMs) / 60_000));
  return ` This computer’s clock is ${minutes} min ${clockSkewMs > 0 ? 'ahead of' : 'behind'} the service’s, which may be the cause: set it right first.`;
}

/** What the service, its portal, the network, keys and connections fail of. */
export const serviceMessages = {
  'service.unreachable': (f) =>
    f.cause === 'refused'
      ? message(
          `${host(f)} refused the connection.`,
          'The computer answers, the service does not. Check the port, or ask who runs it.',
          'later',
        )
      : f.cause === 'unknown-name'
        ? message(
            `This network knows no ${host(f)}.`,
            'Check the address, the network or the VPN, then try again.',
            'later',
          )
        : message(`No connection to ${host(f)}.`, 'Check the network or VPN, then try again.', 'later'),
  'service.timeout': (f) =>
    message(`${f.subject ?? 'The service'} did not answer in time.`, 'Try again.', 'now'),
  'service.tls': (f) => certificateMessage(f.subject ?? ''),
  'service.proxy': (f) =>
    f.subject?.endsWith('://') === true
      ? message(
          f.subject === '://'
            ? 'The address of the proxy can’t be used.'
            : `A proxy of this kind or with this address can’t be used: ${f.subject}.`,
          'Choose an HTTP, HTTPS or SOCKS5 proxy in the system’s settings, or ask your network team.',
        )
      : f.subject === '407'
        ? message(
            'The proxy asks for a sign-in, so nothing was sent.',
            'Enter its user name and password at the connection. If it asks for NTLM or Kerberos, ask your administrator.',
          )
        : message(
            `The proxy did not let the request through${f.subject === undefined ? '' : ` (${f.subject})`}.`,
            'Ask your network team.',
          ),
  'service.redirect': () =>
    message(
      'The service answered with a redirect. Redirects are never followed, so nothing went elsewhere.',
      'Check the base URL of the connection.',
    ),
  'service.not-json': (f) =>
    message(
      `Something other than the service answered at ${host(f)}, perhaps a proxy or a sign-in page of the network.`,
      'Open the network’s sign-in page in a browser, then try again.',
      'later',
    ),
  'service.unexpected-answer': (f) =>
    message(
      'The service answered in a form this profile does not know.' +
        (f.members === undefined || f.members.length === 0 ? '' : ` Its members: ${f.members.join(', ')}.`),
      'Ask the administrator to check the service profile.',
    ),
  'service.mismatched-answer': () =>
    message(
      'The answer did not match what was asked, so it was not used.',
      'Try again. If the problem continues, contact support.',
      'now',
    ),
  'service.invalid-input': invalidMessage,
  'service.credentials': (f) =>
    infoOf(f) === undefined
      ? message(
          `${policyOf(f)} could not sign in: the API key, the policy name or its password is wrong.`,
          `Enter them again under Connections.${clockHint(f)}`,
        )
      : message(
          `${policyOf(f)} could sign in, but the service doesn’t accept the session that it gave (401).`,
          `Ask the administrator to check in the service profile where the session is sent.${clockHint(f)}`,
        ),
  'service.key-expired': () =>
    message(
      'The API key has expired.',
      'Ask the administrator for a new key and enter it under Connections.',
    ),
  'service.key-revoked': () =>
    message(
      'The API key of this connection was revoked in the portal.',
      'Ask the administrator for a new key and enter it under Connections.',
    ),
  'service.policy-revoked': (f) =>
    message(
      `${policyOf(f)} was revoked in the portal, so nothing can be done with it any more.`,
      'Choose another policy.',
    ),
  'service.refused': (f) =>
    message(formatRefused(f), 'Choose another policy or ask the administrator to grant it.'),
  'service.definition-disabled': (f) =>
    message(
      f.definition === undefined
        ? 'This token definition is disabled in the portal.'
        : `The token definition ${f.definition} is disabled in the portal.`,
      'Choose another definition, or ask the administrator to enable it.',
    ),
  'service.not-found': (f) =>
    f.operation === 'CreateSession'
      ? message(
          'Nothing lives at the address that the connection signs in at (404).',
          'Check the base URL and, in the service profile, the path of CreateSession.',
        )
      : message(
          'The service does not know this.',
          f.definition === undefined
            ? 'Check the base URL and the service profile.'
            : `Check the name of the definition ${f.definition} and the base URL.`,
        ),
  'service.busy': (f) => message('The service’s request limit is reached.', formatWait(f), 'later'),
  'service.quota': (f) => message('Today’s transfers are used up.', formatWait(f), 'later'),
  'service.wrong-type': () =>
    message(
      'The service doesn’t take requests in this form (415).',
      'Ask the administrator to check the headers of the service profile.',
    ),
  'service.too-large': () => message('The request was too large for the service.', 'Send less at once.'),
  'service.failing': (f) => message('The service is having trouble.', formatWait(f), 'later'),
  'service.element-refused': (f) =>
    message(
      f.row === undefined
        ? 'The service refused this value.'
        : `The service refused the value of row ${f.row}.`,
      'Check that it is a token of the chosen definition.',
    ),
  'service.value-invalid': (f) =>
    message(
      `The service does not take this as a value of ${f.definition ?? 'the definition'}.`,
      'Correct it and try again.',
    ),
  'service.value-too-long': (f) =>
    message(
      `The value is too long for ${f.definition ?? 'the definition'}.`,
      'Shorten it or choose another definition.',
    ),
  'service.token-invalid': tokenMessage,
  'service.empty-value': () =>
    message(
      'The service answered this value with an empty one, so the cell was left as it was.',
      'Ask the administrator; if an empty answer is right, the service profile can say so.',
    ),
  'service.blank-value': () =>
    message(
      'The service answered this value with white space alone, so the cell was left as it was.',
      'Ask the administrator; if an empty answer is right, the service profile can say so.',
    ),
  'service.nul-value': () =>
    message(
      'The service answered this value with a NUL character, which no file can hold, so the cell was left as it was.',
      'Contact the service’s support.',
    ),
  'service.long-value': () =>
    message(
      'The service answered this value with a text longer than a value may be, so the cell was left as it was.',
      'Contact the service’s support.',
    ),
  'service.same-answer': () =>
    message(
      'The service gave two different values the same answer. Neither could be got back, so the cell was left as it was.',
      'Check the definition and the policy, and contact the service’s support.',
    ),
  'service.broken-value': () =>
    message(
      'The service answered this value with a character that is not whole, so the cell was left as it was.',
      'Contact the service’s support.',
    ),
  'service.echoed-value': (f) =>
    message(
      infoOf(f)?.gives === 'cleartext'
        ? 'The service answered with the token that was sent, not with its cleartext.'
        : 'The service answered with the value that was sent, not with a token or a mask. It is not used.',
      'Ask the administrator: the service profile may name the wrong member of the answer.',
    ),
  'service.cancelled': () =>
    message('Cancelled. Nothing more was sent.', 'Start again when you are ready.', 'now'),
  'credentials.missing': (f) =>
    message(
      f.subject !== undefined
        ? `The proxy’s password for ${f.subject} is not stored yet.`
        : f.policy === undefined
          ? 'The API key is not stored yet.'
          : `The password of policy ${f.policy} is not stored yet.`,
      'Enter it under Connections.',
    ),
  'credentials.too-long': () =>
    message('This secret is too long for the keychain.', 'Check that the right text was pasted.'),
  'keychain.locked': () => message('The system’s keychain is locked.', 'Unlock it, then try again.', 'later'),
  'keychain.unavailable': () =>
    message(
      'This computer has no keychain. Secrets stay in memory and are forgotten when the app closes.',
      'Ask the administrator to install one.',
    ),
  'keychain.stalled': () =>
    message(
      'The system’s keychain is not responding.',
      'Try again. If the problem continues, sign out of this computer and in again.',
      'later',
    ),
  'profile.member': () =>
    message(
      'This member can’t be read as the answer.',
      'Choose another one, or import a service profile that describes the answer.',
    ),
  'examples.unreadable': (f) =>
    message(
      f.subject === undefined
        ? 'No calls of a service were found in this.'
        : `This is ${f.subject}, which is not read.`,
      'Give an OpenAPI 3 document, an exported collection, curl lines, or a request and its answer.',
    ),
  'examples.none': () => message('The examples are no longer held.', 'Read them again.'),
  'profile.cleartext': (f) =>
    message(
      `A member called ${f.subject ?? 'value'} is never read as a token or a mask: other services put cleartext there.`,
      'Choose another member of the answer.',
    ),
  'connection.none': () =>
    message('No connection is chosen.', 'Choose one at the top or add one under Connections.'),
  'connection.unknown': (f) =>
    f.subject === undefined
      ? message('This connection no longer exists.', 'Choose another one.')
      : message(
          `The connection ${f.subject} no longer exists, so this batch can’t go on.`,
          'Finished rows are saved. Cancel the batch to export them, and start a new one for the rest.',
        ),
  'connection.invalid': (f) =>
    message(
      f.subject === undefined
        ? 'Something in this connection is not right.'
        : `This connection is not complete: ${f.subject}.`,
      'Correct it and save again.',
    ),
  'connection.half-removed': () =>
    message(
      'The keychain failed while the connection was being removed. The connection stays.',
      'Its API key and passwords are stored again as soon as the keychain answers. If you lock or quit Tokendesk before that, those that are missing must be entered again.',
    ),
  'connection.unsettled': () =>
    message(
      'The change is saved, but the keychain failed at its end. Until it answers, an earlier settings file that is put back would still be trusted.',
      'Leave Tokendesk open and save once more: when that succeeds, it is no longer so. No secret of this connection is used before that.',
      'now',
    ),
  'connection.changed': () =>
    message(
      'This connection may have been changed outside of Tokendesk. Its secrets were removed.',
      'Check it on the Connections page, save it, which removes its service profile, and enter its secrets again.',
    ),
  'connection.environment': () =>
    message(
      'A connection with stored secrets can’t be moved to a lower environment.',
      'Remove it, and add it again with the secrets of that environment.',
    ),
  'connection.built-in': () =>
    message('The built-in connection can’t be changed that way.', 'Add a connection of your own.'),
  'connection.built-in-off': () =>
    message('Your administrator does not allow the built-in service.', 'Use another connection.'),
  'connection.host': (f) =>
    message(
      `Your administrator does not allow connections to ${host(f)}.`,
      'Use a host that is allowed, or ask your administrator.',
    ),
  'certificate.invalid': (f) =>
    f.subject === undefined
      ? message(
          'The extra certificate is not in PEM form.',
          'Paste the whole text, from BEGIN CERTIFICATE to END CERTIFICATE.',
        )
      : message(
          `The client certificate (${f.subject}) does not open.`,
          'Choose a PKCS #12 file with its key and give the passphrase it was made with.',
        ),
  'certificate.slow': (f) =>
    message(
      `The client certificate (${f.subject ?? 'PKCS #12'}) is encrypted so that it takes too long to open.`,
      'Export it again with fewer rounds, as TLS programs do by themselves: a few thousand.',
    ),
  'certificate.unsupported': (f) =>
    message(
      `The client certificate (${f.subject ?? 'PKCS #12'}) is encrypted in a way that is not read here.`,
      'Export it again, encrypted with AES-256.',
    ),
  'portal.sign-in': () => message('Nobody is signed in to the portal.', 'Sign in first.'),
  'portal.expired': () =>
    message(
      'The portal sign-in has ended.',
      'Sign in again. If it happens at once, check this computer’s clock.',
    ),
  'portal.endless': () =>
    message(
      'The token of this sign-in has no end, so it is not handed on.',
      'Copy the configuration without it, and have the portal issue one that ends soon.',
    ),
  'portal.credentials': () =>
    message('The portal did not accept this user and password.', 'Check both and sign in again.'),
  'portal.refused': () =>
    message(
      'The portal does not let this user see the account.',
      'Sign in again, or ask the administrator; check the account and tenant ID under Connections.',
    ),
  'portal.role': () =>
    message(
      'This portal user is not an administrator of the account.',
      'Sign in as a user with the role AccountAdmin or a higher one.',
    ),
  'portal.name-taken': (f) =>
    message(
      f.subject === undefined ? 'This name is taken.' : `The name ${f.subject} is taken.`,
      'Choose another name.',
    ),
  'portal.no-operation': () =>
    message(
      'The service profile of this connection names no operation for this.',
      'Do it in the service’s own portal.',
    ),
  'portal.secret-gone': (f) =>
    message(
      `This ${f.subject ?? 'secret'} is no longer held here.`,
      'Make a new one: the service shows each of them once.',
    ),
  'portal.not-a-token': () =>
    message(
      'This is not a portal JWT.',
      'A JWT has three parts separated by dots. Copy it whole and paste again.',
    ),
  'portal.account-missing': () =>
    message('This connection has no account ID or no tenant ID.', 'Enter both under Connections.'),
} satisfies Partial<Record<FailureCode, Format>>;
