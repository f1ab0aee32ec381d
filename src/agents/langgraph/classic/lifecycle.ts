import type { Fields } from '../../../messages/record.ts'
import type { EngineEvent } from '../graph.ts'

type Status = 'started' | 'completed' | 'failed'

/** Reports when nested graphs start and end, which the engine only does itself in version 3. */
export function createLifecycle() {
  const running = new Map<string, readonly string[]>()
  const known = new Set<string>()
  /** Ended namespaces, reported after the events of their end. */
  let ending: string[] = []

  const event = (namespace: readonly string[], status: Status): EngineEvent => ({
    method: 'lifecycle',
    params: { namespace, data: { event: status, graph_name: namespace.at(-1)!.split(':', 1)[0] } },
  })

  function ends(keys: readonly string[], status: Status): readonly EngineEvent[] {
    return keys.flatMap((key) => {
      const namespace = running.get(key)
      return namespace && running.delete(key) ? [event(namespace, status)] : []
    })
  }

  function starts(namespace: readonly string[]): readonly EngineEvent[] {
    const events: EngineEvent[] = []
    for (let length = 1; length <= namespace.length; length++) {
      const graph = namespace.slice(0, length)
      const key = graph.join('|')
      if (known.has(key)) continue
      known.add(key)
      running.set(key, graph)
      events.push(event(graph, 'started'))
    }
    return events
  }

  return {
    /** The lifecycle events to send before the events of a namespace. */
    before(namespace: readonly string[]): readonly EngineEvent[] {
      const ended = ends(ending, 'completed')
      ending = []
      return ended.length === 0 && known.has(namespace.join('|')) ? ended : [...ended, ...starts(namespace)]
    },
    /** Records a task of a namespace. When the task has a result, the graph that it ran has ended. */
    noteTask(namespace: readonly string[], task: Fields): void {
      if ('result' in task) ending.push([...namespace, `${task.name}:${task.id}`].join('|'))
    },
    end: (status: 'completed' | 'failed'): readonly EngineEvent[] => {
      const completed = ends(ending, 'completed')
      return [...completed, ...ends([...running.keys()], status)]
    },
  }
}
