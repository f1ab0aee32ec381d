import { checkUrl } from '../../../core/egress/check-url.ts'
import { A2AError } from '../errors.ts'
import type { PushConfig } from '../model.ts'
import { credentialsOf } from './follower.ts'
import type { A2APushOptions } from './pushes.ts'

/** The maximum of configs for one task. */
export const MAX_PUSHES = 20
const MAX_LENGTH = 4_096

/** Throws `invalid_params` for a config that cannot be delivered to. */
export function checkPush(config: PushConfig, options: A2APushOptions): void {
  const { id = '', url } = config
  if (url.length > MAX_LENGTH || id.length > 256) throw refused('the id or the url is too long.')
  try {
    checkUrl(url, options)
  } catch (error) {
    throw refused(`url: ${(error as Error).message}`)
  }
  for (const value of Object.values(credentialsOf(config)))
    if (value.length > MAX_LENGTH || !/^[\x20-\x7e]*$/.test(value))
      throw refused(
        `a token or credential must be at most ${MAX_LENGTH} characters that are valid in a header.`,
      )
}

const refused = (why: string): A2AError => new A2AError('invalid_params', `pushNotificationConfig: ${why}`)
