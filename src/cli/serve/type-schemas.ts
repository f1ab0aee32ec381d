import type { Symbol as Name, Node, SourceFile, Type } from 'typescript'

type TypeScript = typeof import('typescript')
type Schema = Readonly<Record<string, unknown>>

export interface TypedGraph {
  readonly name: string
  /** The absolute path of its source. */
  readonly file: string
  readonly symbol: string
}

/** The schemas in the types of a graph. One is absent if the types do not say it. */
export interface TypeSchemas {
  readonly input?: Schema
  readonly output?: Schema
  readonly state?: Schema
  readonly config?: Schema
}

export interface FoundSchemas {
  /** By graph name. */
  readonly graphs: Readonly<Record<string, TypeSchemas>>
  /** Schemas of graphs that are nodes of others, by node name. Ambiguous names are omitted. */
  readonly nodes: Readonly<Record<string, TypeSchemas>>
  /** The project's own files that the types come from. */
  readonly files: readonly string[]
}

/**
 * Compiles a project, and reads the shapes of its graphs from their types. It runs in its own thread, from
 * its source text, so it must not reference anything outside of itself.
 */
export function schemasFromTypes(
  ts: TypeScript,
  folder: string,
  graphs: readonly TypedGraph[],
): FoundSchemas {
  const config = ts.findConfigFile(folder, ts.sys.fileExists)
  const given = config ? ts.readConfigFile(config, ts.sys.readFile).config : {}
  const { options } = ts.parseJsonConfigFileContent(given ?? {}, ts.sys, folder)
  const files = graphs.map(({ file }) => file)
  const program = ts.createProgram(files, {
    ...options,
    noEmit: true,
    skipLibCheck: true,
    strict: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    target: ts.ScriptTarget.ES2022,
  })
  const checker = program.getTypeChecker()
  const { TypeFlags, SymbolFlags, SignatureKind, IndexKind } = ts

  const found = Object.fromEntries(
    graphs.flatMap(({ name, file, symbol }) => {
      const source = program.getSourceFile(file)
      const module = source && checker.getSymbolAtLocation(source)
      const found = module && checker.getExportsOfModule(module).find((one) => one.name === symbol)
      const graph = source && found && compiled(checker.getTypeOfSymbolAtLocation(found, source), source, 0)
      return graph ? [[name, schemasOf(graph, source)]] : []
    }),
  )
  const sources = program.getSourceFiles()
  const own = sources.filter(
    (one) => !program.isSourceFileFromExternalLibrary(one) && !one.fileName.includes('/node_modules/'),
  )
  return { graphs: found, nodes: nodesOf(sources), files: own.map(({ fileName }) => fileName) }

  /** The graphs that the project's sources add as nodes with `addNode`. */
  function nodesOf(sources: readonly SourceFile[]): FoundSchemas['nodes'] {
    const nodes = new Map<string, TypeSchemas | undefined>()
    const look = (node: Node, source: SourceFile): void => {
      if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
        const [name, value] = node.arguments
        const isAdding = node.expression.name.text === 'addNode' && name && ts.isStringLiteralLike(name)
        const graph = isAdding && value ? checker.getTypeAtLocation(value) : undefined
        if (isAdding && graph?.getProperty('~InputType'))
          nodes.set(name.text, nodes.has(name.text) ? undefined : schemasOf(graph, source))
      }
      ts.forEachChild(node, (child) => look(child, source))
    }
    for (const source of sources)
      if (!source.isDeclarationFile && !program.isSourceFileFromExternalLibrary(source)) look(source, source)
    return Object.fromEntries([...nodes].flatMap(([name, schemas]) => (schemas ? [[name, schemas]] : [])))
  }

  /** The type of the compiled graph that an export is, creates, contains or is a promise of. */
  function compiled(type: Type, at: Node, depth: number): Type | undefined {
    if (depth > 6 || type.flags & TypeFlags.Any) return undefined
    if (type.getProperty('~InputType')) return type
    const inside = propertyType(type, 'compile', at) ?? type
    const [call] = checker.getSignaturesOfType(inside, SignatureKind.Call)
    const next =
      checker.getAwaitedType(type) !== type
        ? checker.getAwaitedType(type)
        : call
          ? checker.getReturnTypeOfSignature(call)
          : propertyType(type, 'graph', at)
    return next && compiled(next, at, depth + 1)
  }

  function propertyType(type: Type, name: string, at: Node): Type | undefined {
    const property = type.getProperty(name)
    return property && checker.getTypeOfSymbolAtLocation(property, at)
  }

  function schemasOf(graph: Type, at: Node): TypeSchemas {
    // The first argument of `CompiledStateGraph`.
    const [state] =
      (graph.symbol?.name === 'CompiledStateGraph' && checker.getTypeArguments(graph as never)) || []
    const input = propertyType(graph, '~InputType', at)
    const output = propertyType(graph, '~OutputType', at)
    const entries = { input, output, state: state ?? output, config: contextOf(graph, at) }
    return Object.fromEntries(
      Object.entries(entries).flatMap(([key, type]) => {
        const schema = type && schemaOf(type, at, [])
        const says = schema?.type === 'object' && Object.keys(Object(schema.properties)).length > 0
        return says ? [[key, { $schema: 'http://json-schema.org/draft-07/schema#', ...schema }]] : []
      }),
    )
  }

  /** What `invoke` accepts as `context`. */
  function contextOf(graph: Type, at: Node): Type | undefined {
    const invoke = propertyType(graph, 'invoke', at)
    const [call] = invoke ? checker.getSignaturesOfType(invoke, SignatureKind.Call) : []
    const options = call?.parameters[1] && checker.getTypeOfSymbolAtLocation(call.parameters[1], at)
    const context = options && propertyType(checker.getNonNullableType(options), 'context', at)
    return context && checker.getNonNullableType(context)
  }

  function schemaOf(type: Type, at: Node, within: readonly Type[]): Schema {
    const { flags } = type
    if (type.isStringLiteral() || type.isNumberLiteral())
      return { type: typeof type.value, const: type.value }
    if (flags & TypeFlags.BooleanLiteral)
      return { type: 'boolean', const: checker.typeToString(type) === 'true' }
    if (flags & TypeFlags.StringLike) return { type: 'string' }
    if (flags & TypeFlags.NumberLike) return { type: 'number' }
    if (flags & TypeFlags.BooleanLike) return { type: 'boolean' }
    if (flags & TypeFlags.BigIntLike) return { type: 'integer' }
    if (flags & TypeFlags.Null) return { type: 'null' }
    if (within.includes(type) || within.length > 10) return {}
    if (areMessages(type)) return { type: 'array', items: messageSchema(), langgraph_type: 'messages' }
    const inside = [...within, type]
    if (type.isUnion()) return unionSchema(type.types, at, inside)
    if (type.symbol?.name === 'Date') return { type: 'string', format: 'date-time' }
    if (isMessage(type)) return messageSchema()
    if (checker.isTupleType(type)) {
      const items = checker.getTypeArguments(type as never).map((one) => schemaOf(one, at, inside))
      return { type: 'array', items, minItems: items.length, maxItems: items.length }
    }
    if (checker.isArrayType(type)) {
      const [item] = checker.getTypeArguments(type as never)
      return { type: 'array', items: item ? schemaOf(item, at, inside) : {} }
    }
    return flags & (TypeFlags.Object | TypeFlags.Intersection) ? objectSchema(type, at, inside) : {}
  }

  /**
   * Without types that JSON lacks, and without the wrapper that overwrites a value, which clients do not
   * send.
   */
  function unionSchema(types: readonly Type[], at: Node, within: readonly Type[]): Schema {
    const kept = types.filter(
      (one) =>
        !(one.flags & TypeFlags.Undefined) && (one.aliasSymbol ?? one.symbol)?.name !== 'OverwriteValue',
    )
    const schemas = kept.map((one) => schemaOf(one, at, within))
    const literals = schemas.filter((schema) => 'const' in schema)
    const isBoolean = literals.filter(({ type }) => type === 'boolean').length === 2
    const words = literals.filter(({ type }) => !isBoolean || type !== 'boolean')
    const kinds = [...new Set(words.map(({ type }) => type))]
    const parts = [
      ...kinds.map((kind) => {
        const values = words.filter(({ type }) => type === kind).map((schema) => schema.const)
        return values.length === 1 ? { type: kind, const: values[0] } : { type: kind, enum: values }
      }),
      ...(isBoolean ? [{ type: 'boolean' }] : []),
      ...schemas.filter((schema) => !('const' in schema)),
    ]
    const different = [...new Map(parts.map((part) => [JSON.stringify(part), part])).values()]
    return different.length === 1 ? different[0]! : different.length === 0 ? {} : { anyOf: different }
  }

  function objectSchema(type: Type, at: Node, within: readonly Type[]): Schema {
    const properties: Record<string, Schema> = {}
    const required: string[] = []
    for (const property of checker.getPropertiesOfType(type)) {
      const own = checker.getTypeOfSymbolAtLocation(property, at)
      const isHidden = property.name.startsWith('__') || property.name.startsWith('~')
      if (isHidden || checker.getSignaturesOfType(own, SignatureKind.Call).length > 0) continue
      const description = ts.displayPartsToString(property.getDocumentationComment(checker))
      properties[property.name] = { ...schemaOf(own, at, within), ...(description && { description }) }
      if (!isOptional(property, own)) required.push(property.name)
    }
    const index = checker.getIndexTypeOfType(type, IndexKind.String)
    return {
      type: 'object',
      properties,
      ...(required.length > 0 && { required }),
      ...(index && { additionalProperties: schemaOf(index, at, within) }),
    }
  }

  function isOptional(property: Name, type: Type): boolean {
    const takesNone = type.isUnion() && type.types.some((one) => one.flags & TypeFlags.Undefined)
    return takesNone || (property.flags & SymbolFlags.Optional) !== 0
  }

  function isMessage(type: Type): boolean {
    return type.symbol?.name === 'BaseMessage' || (type.getBaseTypes?.() ?? []).some(isMessage)
  }

  /** Whether a type is a list of messages, or what a message reducer makes one from. */
  function areMessages(type: Type): boolean {
    const types = type.isUnion() ? type.types : [type]
    return types.some((one) => {
      if (!checker.isArrayType(one)) return false
      const [item] = checker.getTypeArguments(one as never)
      return item !== undefined && (item.isUnion() ? item.types : [item]).some(isMessage)
    })
  }

  function messageSchema(): Schema {
    const text = { type: 'string' }
    const content = { anyOf: [text, { type: 'array', items: { type: 'object' } }] }
    return {
      type: 'object',
      title: 'Message',
      properties: { type: text, role: text, id: text, content },
      required: ['content'],
    }
  }
}
