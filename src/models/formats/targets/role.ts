import type { Message, Role } from '../../../messages/index.ts'
import { roleOf } from '../reading/request.ts'

/** The role as it was sent (`developer`), if it is a spelling of the role that it was read as. */
export const spelledRole = (role: Role, extras: Message['extras']): unknown =>
  typeof extras?.role === 'string' && roleOf(extras.role) === role ? extras.role : role
