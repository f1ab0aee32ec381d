import { AgentwireError } from '../../core/errors.ts'
import type { Send } from './database.ts'
import type { Keys } from './keys.ts'
import { toUtf8 } from './store/entries.ts'

const OLDEST = [6, 2] as const
/** The version of the keys' contents. Never change the meaning of a number: add one, with what converts the one before. */
export const LAYOUT = '1'

/** Checks that this Redis is suitable, and marks the prefix as ours. */
export async function prepare(send: Send, keys: Keys): Promise<void> {
  const { redis_version: version } = await info(send, 'server')
  if (version !== undefined && isOlder(version)) {
    throw new AgentwireError(
      'unsupported',
      `redisStorage needs Redis ${OLDEST.join('.')} or newer; this is ${version}.`,
    )
  }
  await send(['SET', keys.layout, LAYOUT, 'NX'], keys.layout)
  const found = textOf(await send(['GET', keys.layout], keys.layout))
  if (found !== LAYOUT) {
    throw new AgentwireError(
      'unsupported',
      `The keys with this prefix have layout ${found}, but this version of agentwire only knows ${LAYOUT}: update agentwire, or use another prefix.`,
    )
  }
  const { aof_enabled: appendOnly } = await info(send, 'persistence')
  if (appendOnly === '0') {
    console.warn(
      'agentwire: this Redis writes no append-only file, so committed data is lost when it stops. Set "appendonly yes".',
    )
  }
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])
}

/** A section of INFO, https://redis.io/docs/latest/commands/info/. */
export async function info(send: Send, section: string): Promise<Record<string, string>> {
  const lines = textOf(await send(['INFO', section])).split('\r\n')
  return Object.fromEntries(
    lines.flatMap((line) => (line.includes(':') ? [line.split(':', 2) as [string, string]] : [])),
  )
}

export function textOf(reply: unknown): string {
  return reply instanceof Uint8Array ? toUtf8(reply) : String(reply)
}
