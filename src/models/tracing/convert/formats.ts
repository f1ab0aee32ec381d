import {
  anthropicTarget,
  completionsTarget,
  detectFormat,
  type Format,
  formats,
  langchainTarget,
  responsesTarget,
  type Target,
  vercelTarget,
} from '../../formats/index.ts'
import { TracingError } from '../errors.ts'
import { platformTarget } from './platform.ts'

const TARGETS: ReadonlyMap<string, Target> = new Map(
  [completionsTarget, responsesTarget, anthropicTarget, langchainTarget, vercelTarget].map((target) => [
    target.name,
    target,
  ]),
)

/** The selected format, otherwise the one detected from the values. */
export function formatOf(
  asked: Format | string | undefined,
  ...values: readonly unknown[]
): Format | undefined {
  if (typeof asked === 'object') return asked
  const found = detectFormat(formats, values, asked)
  if (asked === undefined || found) return found
  throw unknownName(
    'format',
    asked,
    formats.map(({ name }) => name),
  )
}

/** The selected target. Default: the platform's own message format. */
export function targetOf(asked: Target | string | undefined): Target {
  if (typeof asked === 'object') return asked
  const found = asked === undefined ? platformTarget : TARGETS.get(asked)
  if (found) return found
  throw unknownName('target', asked, [...TARGETS.keys()])
}

const unknownName = (path: string, asked: unknown, names: readonly string[]): TracingError =>
  new TracingError(path, `Unknown ${path} ${JSON.stringify(asked)}. Known: ${names.join(', ')}.`)
