import { z } from 'zod';
import { member, members, path } from './profile-fields.ts';

/** The portal operations of an administrator and their parameters. The specification shows none of them (§1, §2). */
const administrationParameters = {
  ListTokenDefinitions: [],
  PreviewTokenDefinition: ['definition', 'value'],
  CreateTokenDefinition: ['definition'],
  UpdateTokenDefinition: ['definition'],
  ListSecurityPolicies: [],
  CreateSecurityPolicy: ['name', 'password', 'grants'],
  UpdateSecurityPolicy: ['name', 'password', 'grants'],
  RevokeSecurityPolicy: ['name'],
  ListApiKeys: [],
  CreateApiKey: ['title', 'expires'],
  RotateApiKey: ['title', 'expires'],
  RevokeApiKey: ['title'],
  GetToolServer: [],
  EnableToolServer: ['enabled'],
} as const;
export type AdministrationOperation = keyof typeof administrationParameters;

const operation = (name: AdministrationOperation) => {
  const parameters: readonly string[] = administrationParameters[name];
  return z
    .strictObject({
      path,
      /** Parameter → member of the body. */
      request: z.record(z.string().max(40), member),
    })
    .refine(({ request }) => {
      const named = Object.keys(request);
      return named.length === parameters.length && named.every((one) => parameters.includes(one));
    }, 'other parameters than those of the operation')
    .optional();
};
const names = Object.keys(administrationParameters) as AdministrationOperation[];

/** A member of a definition; with dots one inside another: `masking.keepFirst`. */
const nested = z
  .string()
  .max(200)
  .regex(/^[^.]+(?:\.[^.]+){0,3}$/);

/**
 * The part of a service profile that tells where the portal's operations for administrators live and how their members
 * are called. An operation that is left out is not offered; without the part, none is.
 */
export const administrationProfile = z.strictObject({
  operations: z.strictObject(
    Object.fromEntries(names.map((name) => [name, operation(name)])) as Record<
      AdministrationOperation,
      ReturnType<typeof operation>
    >,
  ),
  /** Members that hold the array of a list. */
  lists: members,
  /** Members of a definition, in both directions. Only name, label and kind have to be there. */
  definition: z.strictObject({
    name: nested,
    label: nested,
    kind: nested,
    enabled: nested.optional(),
    keepFirst: nested.optional(),
    keepLast: nested.optional(),
    maskCharacter: nested.optional(),
    luhn: nested.optional(),
    maxBytes: nested.optional(),
  }),
  /** What the service calls the kinds of data. */
  kinds: z.strictObject({ card: member, ssn: member, email: member, text: member }),
  policy: z.strictObject({ name: members, revoked: members, grants: members }),
  /** Of one grant, in both directions: names of definitions, names of operations as in the specification (§4). */
  grant: z.strictObject({ definitions: member, operations: member }),
  key: z.strictObject({
    title: members,
    expires: members,
    created: members,
    lastUsed: members,
    revoked: members,
    /** The key itself, in the answer that creates it. */
    value: members,
  }),
  preview: z.strictObject({ token: members, mask: members }),
  toolServer: members,
  /** Codes of a 400 that say that another definition, policy or key has the name. */
  nameTaken: z.array(z.string().min(1).max(200)).max(20).default([]),
});
export type AdministrationProfile = z.infer<typeof administrationProfile>;
