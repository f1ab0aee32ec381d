import type { Call } from '../../../core/http/index.ts'
import { A2AError } from '../errors.ts'
import type { Dialect, Operation } from './dialect.ts'
import { v1 } from './v1.ts'
import { v03 } from './v03.ts'

const DIALECTS: readonly Dialect[] = [v03, v1]

/** The `A2A-Version` of a request, from its header or query. */
export const versionOf = ({ request, url }: Pick<Call, 'request' | 'url'>): string | undefined =>
  (request.headers.get('a2a-version') ?? url.searchParams.get('A2A-Version'))?.trim() || undefined

/**
 * The dialect of an `A2A-Version`, ignoring its patch number. v0.3 if there is none. Throws
 * `version_not_supported`.
 */
export function dialectOfVersion(version: string | undefined): Dialect {
  const [, offered] = /^(0\.3|1\.0)(?:\.\d+)?$/.exec(version ?? '0.3') ?? []
  const dialect = DIALECTS.find((one) => one.version === offered)
  if (dialect) return dialect
  throw new A2AError('version_not_supported', 'This A2A-Version is not supported. Use 1.0 or 0.3.')
}

/** Only the method name selects the dialect, because LangGraph's clients send no version with either. */
export function methodOf(name: string, version: string | undefined): readonly [Dialect, Operation] {
  const expected = dialectOfVersion(version)
  for (const dialect of DIALECTS) {
    const operation = dialect.methods.get(name)
    if (operation) return [dialect, operation]
  }
  const known = [...expected.methods.keys()].join(', ')
  throw new A2AError('method_not_found', `Unknown method. A2A ${expected.version} has ${known}.`)
}
