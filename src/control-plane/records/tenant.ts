import { uuidOf } from '../../core/ids.ts'
import { nameOf } from '../../core/principal.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The API's `tenant_id`. An owner whose name is not a UUID gets one. */
export const tenantIdOf = async (owner: string | null): Promise<string> =>
  uuidOfName(owner === null ? null : nameOf(owner))

const uuidOfName = async (name: string | null): Promise<string> =>
  name !== null && UUID.test(name) ? name.toLowerCase() : uuidOf(name)
