/** The name of the switch, which all views share. */
export const MIDDLEWARE = 'middleware'

/** The phases for which LangChain's middleware adds nodes, as they appear in the nodes' names. */
export type Phase = 'before_agent' | 'before_model' | 'after_model' | 'after_agent'

const NODE = /^(.+)\.(before_agent|before_model|after_model|after_agent)$/

/** The middleware and the phase of a node such as `SummarizationMiddleware.before_model`. */
export function middlewareOf(node: string): { readonly name: string; readonly phase: Phase } | undefined {
  const [, name, phase] = NODE.exec(node) ?? []
  return name === undefined ? undefined : { name, phase: phase as Phase }
}

export const isMiddleware = (node: string): boolean => NODE.test(node)
