import type { TaskState } from '../model.ts'

/** In the order of their numbers, starting at 1. Source: `a2a.proto`, Role. */
export const ROLES = ['user', 'agent'] as const

/** In the order of their numbers, starting at 1. Source: `a2a.proto`, TaskState. */
export const STATES: readonly TaskState[] = [
  'submitted',
  'working',
  'completed',
  'failed',
  'canceled',
  'input-required',
  'rejected',
  'auth-required',
]

export const wireRole = (role: string): string => `ROLE_${role.toUpperCase()}`
export const wireState = (state: string): string => `TASK_STATE_${state.toUpperCase().replace('-', '_')}`
