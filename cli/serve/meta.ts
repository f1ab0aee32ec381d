import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createHandler, json, type WebHandler } from '../../src/http/index.ts'
import type { Store } from '../../src/storage/index.ts'
import { version } from '../version.ts'
import type { HttpSection } from './http-section.ts'

/** `GET /ok`, which load balancers and deployers ask, and `GET /info`. Both are public. */
export function metaHandler(
  store: Store,
  folder: string,
  { disabled }: Pick<HttpSection, 'disabled'>,
): WebHandler {
  return createHandler({
    routes: [
      ['GET', '/ok', ({ url }) => answerOk(store, url.searchParams.get('check_db')), true],
      ['GET', '/info', () => json(infoOf(folder, disabled)), true],
    ],
  })
}

async function answerOk(store: Store, checkDatabase: string | null): Promise<Response> {
  // One read of a document that is not there: the database has to answer, and it costs nothing.
  if (checkDatabase === '1' || checkDatabase === 'true') await store.get('ok', 'ok', 'ok')
  return json({ ok: true })
}

function infoOf(folder: string, disabled: HttpSection['disabled']): object {
  return {
    version: version(),
    langgraph_js_version: langgraphVersion(folder),
    context: 'js',
    flags: {
      assistants: !disabled.has('assistants'),
      crons: !disabled.has('runs'),
      langsmith: Boolean(process.env.LANGSMITH_API_KEY ?? process.env.LANGCHAIN_API_KEY),
      langsmith_tracing_replicas: false,
    },
  }
}

/** Of the copy that the project has; null where it has none. */
function langgraphVersion(folder: string): string | null {
  const require = createRequire(join(folder, 'package.json'))
  try {
    return (require('@langchain/langgraph/package.json') as { readonly version: string }).version
  } catch {
    return null
  }
}
