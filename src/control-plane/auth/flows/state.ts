import type { SecretBox } from '../../secrets/secret-box.ts'

/**
 * A flow's name for `wait`: its user's key, which determines the partition, and its id. It reveals neither
 * the tenant nor the user, and only works for callers that may wait for the flow.
 */
export interface FlowName {
  readonly userKey: string
  readonly flowId: string
}

const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}'

export const authIdOf = ({ userKey, flowId }: FlowName): string => `${userKey}.${flowId}`

/** Undefined for an invalid `auth_id`. */
export function parseAuthId(text: string): FlowName | undefined {
  const [, userKey, flowId] = new RegExp(`^(${UUID})\\.(${UUID})$`).exec(text) ?? []
  return userKey !== undefined && flowId !== undefined ? { userKey, flowId } : undefined
}

/** The `state` of an authorization request: the flow with a signature that is valid for one provider. */
export async function signState(secrets: SecretBox, name: FlowName, providerId: string): Promise<string> {
  const authId = authIdOf(name)
  return `${authId}.${await secrets.sign(signed(authId, providerId))}`
}

/** Undefined unless this control plane has signed it for this provider. */
export async function verifyState(
  secrets: SecretBox,
  state: string,
  providerId: string,
): Promise<FlowName | undefined> {
  const at = state.lastIndexOf('.')
  const authId = state.slice(0, Math.max(at, 0))
  const name = parseAuthId(authId)
  return name && (await secrets.verify(signed(authId, providerId), state.slice(at + 1))) ? name : undefined
}

const signed = (authId: string, providerId: string): string => `oauth-state:${authId}:${providerId}`

/** The context that a flow's secrets are bound to. */
export const flowContext = (flowId: string): string => `oauth-flow:${flowId}`
