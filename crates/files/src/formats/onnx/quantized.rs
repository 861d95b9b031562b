//! Quantised weights of ONNX models: nodes whose codes, scales and zero points are constants.

use std::collections::HashMap;

use crate::container::content::{GraphForm, GraphWeight, QuantizedGraph};

/// The axis or the blocks of an operator's scales.
#[derive(Clone, Copy)]
enum ScalesOf {
    /// The attribute `axis`, with blocks of `block_size`.
    Attribute,
    Axis(i64),
    /// The last axis, or the first with `transB`.
    Transposed,
    MatMulNBits,
    Gathered,
    /// One scale and zero point, which have the name of the codes. Codes of other names are plain.
    Named,
    /// The operator is not read.
    Unread,
}

/// An operator with quantised inputs.
struct QuantizedOperator {
    domain: &'static str,
    name: &'static str,
    /// The inputs of codes, scales and zero points. If no input has the scales, their name is that of the codes with an ending.
    weight: [usize; 3],
    /// The input that is a factor of all scales.
    whole: usize,
    /// Inputs that scale activations.
    activations: &'static [usize],
    scales: ScalesOf,
}

const fn operator(domain: &'static str, name: &'static str, weight: [usize; 3], scales: ScalesOf) -> QuantizedOperator {
    QuantizedOperator { domain, name, weight, whole: NONE, activations: &[], scales }
}

/// No input.
const NONE: usize = usize::MAX;

const MICROSOFT: &str = "com.microsoft";

const OPERATORS: &[QuantizedOperator] = &[
    operator("", "DequantizeLinear", [0, 1, 2], ScalesOf::Attribute),
    operator(MICROSOFT, "DequantizeLinear", [0, 1, 2], ScalesOf::Attribute),
    operator(MICROSOFT, "MatMulNBits", [1, 2, 3], ScalesOf::MatMulNBits),
    operator(MICROSOFT, "GatherBlockQuantized", [0, 2, 3], ScalesOf::Gathered),
    QuantizedOperator { activations: &[1, 2], ..operator("", "QuantizeLinear", [NONE; 3], ScalesOf::Unread) },
    QuantizedOperator { activations: &[1, 2], ..operator(MICROSOFT, "QuantizeLinear", [NONE; 3], ScalesOf::Unread) },
    QuantizedOperator { activations: &[1, 2, 6, 7], ..operator("", "QLinearConv", [3, 4, 5], ScalesOf::Axis(0)) },
    QuantizedOperator { activations: &[1, 2, 6, 7], ..operator("", "QLinearMatMul", [3, 4, 5], ScalesOf::Axis(-1)) },
    QuantizedOperator { activations: &[1, 2, 7, 8], ..operator(MICROSOFT, "QGemm", [3, 4, 5], ScalesOf::Transposed) },
    // the scale of a bias is that of the product
    QuantizedOperator { whole: 1, ..operator("", "QLinearConv", [8, 4, NONE], ScalesOf::Axis(0)) },
    QuantizedOperator { whole: 1, ..operator(MICROSOFT, "QGemm", [6, 4, NONE], ScalesOf::Axis(0)) },
    operator(MICROSOFT, "DynamicQuantizeMatMul", [1, 2, 3], ScalesOf::Axis(-1)),
    operator(MICROSOFT, "MatMulIntegerToFloat", [1, 3, 5], ScalesOf::Axis(-1)),
    QuantizedOperator { activations: &[3, 6], ..operator(MICROSOFT, "QAttention", [1, 4, 7], ScalesOf::Axis(-1)) },
    operator("", "MatMulInteger", [1, NONE, 3], ScalesOf::Axis(-1)),
    operator("", "ConvInteger", [1, NONE, 3], ScalesOf::Axis(0)),
    operator("", "Gather", [0, NONE, NONE], ScalesOf::Named),
    operator(MICROSOFT, "MatMulBnb4", [1, 2, NONE], ScalesOf::Unread),
    operator(MICROSOFT, "QMoE", [2, 3, NONE], ScalesOf::Unread),
    operator(MICROSOFT, "QMoE", [5, 6, NONE], ScalesOf::Unread),
    operator(MICROSOFT, "DynamicQuantizeLSTM", [1, 8, 9], ScalesOf::Unread),
    operator(MICROSOFT, "DynamicQuantizeLSTM", [2, 10, 11], ScalesOf::Unread),
];

/// Endings that quantisers give to the names of codes, and those of the weights before.
const ENDINGS: &[(&str, &str)] = &[
    ("_quantized", ""),
    ("_DQ_Q4", ""),
    ("_DQ_Q8", ""),
    ("_Q2", ""),
    ("_Q4", ""),
    ("_Q8", ""),
    (".qweight", ".weight"),
];

/// A node with quantised inputs.
pub(crate) struct QuantizedNode {
    operator: &'static QuantizedOperator,
    /// Of the graph that it is in.
    prefix: String,
    inputs: Vec<String>,
    attributes: HashMap<String, i64>,
}

impl std::fmt::Debug for QuantizedNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({:?})", self.operator.name, self.inputs)
    }
}

/// The weights of the nodes. `names` are those of the members.
pub(crate) fn graph(nodes: &[QuantizedNode], names: &[String]) -> Option<QuantizedGraph> {
    if nodes.is_empty() {
        return None;
    }
    let numbers: HashMap<&str, usize> = names.iter().enumerate().map(|(n, name)| (&**name, n)).collect();
    let (mut graph, mut by_codes) = (QuantizedGraph::default(), HashMap::new());
    for node in nodes {
        let input = |at: usize| node.inputs.get(at).and_then(|name| node.find(&numbers, name));
        graph.activations.extend(node.operator.activations.iter().filter_map(|at| input(*at)));
        let [codes, scales, zeros] = node.operator.weight;
        let Some(codes) = input(codes) else {
            graph.activations.extend([scales, zeros].into_iter().filter_map(input));
            continue;
        };
        let plain =
            |name: &str| ENDINGS.iter().find_map(|(ending, own)| Some(format!("{}{own}", name.strip_suffix(ending)?)));
        let beside = |ending| numbers.get(&*format!("{}{ending}", names[codes].strip_suffix("_quantized")?)).copied();
        let is_named = matches!(node.operator.scales, ScalesOf::Named);
        if is_named && beside("_scale").is_none() {
            continue;
        }
        let name = plain(&names[codes]).filter(|name| !numbers.contains_key(&**name));
        let found = if scales == NONE { beside("_scale") } else { input(scales) };
        let name = name.unwrap_or_else(|| names[codes].clone());
        let of_groups = if matches!(node.operator.scales, ScalesOf::MatMulNBits) { 4 } else { NONE };
        // an input that has a name must be there
        let has = |at: usize| node.inputs.get(at).is_some_and(|name| !name.is_empty());
        let is_missing = |at: &usize| has(*at) && input(*at).is_none();
        let is_constant = found.is_some() && ![zeros, of_groups, node.operator.whole].iter().any(is_missing);
        let (form, fault) = node.form(&names[codes], is_constant);
        let zeros = if is_named { beside("_zero_point") } else { input(zeros) };
        let (groups, whole) = (input(of_groups), input(node.operator.whole));
        let operator = node.operator.name;
        let weight = GraphWeight { name, operator, codes, scales: found, zeros, whole, groups, form, fault };
        match by_codes.get(&codes) {
            None => {
                by_codes.insert(codes, graph.weights.len());
                graph.weights.push(weight);
            }
            Some(&n) if (graph.weights[n].scales, graph.weights[n].zeros) == (weight.scales, weight.zeros) => {}
            Some(&n) => graph.weights[n].fault = Some(format!("{} has scales of two nodes", names[codes])),
        }
    }
    Some(graph)
}

fn operators(domain: &str, name: &str) -> impl Iterator<Item = &'static QuantizedOperator> {
    OPERATORS.iter().filter(move |known| known.name == name && known.domain == domain)
}

/// Whether an operator has quantised inputs.
pub(crate) fn is_quantized(domain: &str, name: &str) -> bool {
    operators(domain, name).next().is_some()
}

impl QuantizedNode {
    /// A node, once for each weight that its operator may have.
    pub(crate) fn all(
        (domain, name): (&str, &str),
        prefix: &str,
        inputs: &[String],
        attributes: &HashMap<String, i64>,
    ) -> impl Iterator<Item = Self> {
        operators(domain, name).map(|operator| {
            let (prefix, inputs, attributes) = (prefix.to_owned(), inputs.to_vec(), attributes.clone());
            Self { operator, prefix, inputs, attributes }
        })
    }

    /// The number of a constant that the graph of the node or one around it has.
    fn find(&self, numbers: &HashMap<&str, usize>, name: &str) -> Option<usize> {
        let mut prefix = &*self.prefix;
        loop {
            if let Some(n) = numbers.get(&*format!("{prefix}{name}")).filter(|_| !name.is_empty()) {
                return Some(*n);
            }
            let outer = prefix.strip_suffix('/')?;
            prefix = &prefix[..outer.rfind('/').map_or(0, |at| at + 1)];
        }
    }

    /// The arrangement of the scales, or the reason for not reading the weight.
    fn form(&self, codes: &str, is_constant: bool) -> (GraphForm, Option<String>) {
        let number = |name: &str| self.attributes.get(name).copied();
        let count = |name: &str, default| usize::try_from(number(name).unwrap_or(default)).unwrap_or(0);
        let (bits, operator) = (count("bits", 4), self.operator.name);
        let form = match self.operator.scales {
            ScalesOf::Attribute | ScalesOf::Unread => {
                GraphForm::Axis { axis: number("axis").unwrap_or(1), block: count("block_size", 0) }
            }
            ScalesOf::Named => GraphForm::Axis { axis: 0, block: 0 },
            ScalesOf::Axis(axis) => GraphForm::Axis { axis, block: 0 },
            ScalesOf::Transposed => GraphForm::Axis { axis: i64::from(number("transB") != Some(1)), block: 0 },
            ScalesOf::MatMulNBits => {
                GraphForm::Rows { bits, block: count("block_size", 0), rows: count("N", 0), cols: count("K", 0) }
            }
            ScalesOf::Gathered => GraphForm::LastAxis {
                bits,
                block: count("block_size", 128),
                axis: number("quantize_axis").unwrap_or(1),
            },
        };
        let fault = if matches!(self.operator.scales, ScalesOf::Unread) {
            Some(format!("{codes} are codes of {operator}, which is not read"))
        } else if !is_constant {
            Some(format!("{codes} are codes of {operator}, whose other inputs are not constant"))
        } else if number("weight_prepacked").is_some_and(|packed| packed != 0) {
            Some(format!("{codes} is packed for one kind of processor"))
        } else {
            None
        };
        (form, fault)
    }
}
