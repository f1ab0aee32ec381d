import { App } from '../../../components/app.tsx'
import { readFirstState } from '../../../server/first-state.ts'

export const dynamic = 'force-dynamic'

interface ThreadProps {
  readonly params: Promise<{ readonly id: string }>
}

/** A thread, with what there is of it, so that it is shown before the page's code is loaded. */
export default async function Thread({ params }: ThreadProps) {
  const { id } = await params
  return <App firstState={await readFirstState(decodeURIComponent(id))} />
}
