/** The switch that all views share. */
export const MIDDLEWARE = 'middleware'

/** The phases of an agent at which LangChain's middleware has nodes of its own, as the nodes are named. */
export type Phase = 'before_agent' | 'before_model' | 'after_model' | 'after_agent'

const NODE = /^(.+)\.(before_agent|before_model|after_model|after_agent)$/

/** The middleware that a node is of, and its phase: `SummarizationMiddleware.before_model`. */
export function middlewareOf(node: string): { readonly name: string; readonly phase: Phase } | undefined {
  const [, name, phase] = NODE.exec(node) ?? []
  return name === undefined ? undefined : { name, phase: phase as Phase }
}

export const isMiddleware = (node: string): boolean => NODE.test(node)
