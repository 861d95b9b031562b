//! Runs the operator of a case: its node is planned, and each call of the plan is linked to the output of the one before.

use super::case::{Case, CaseInput, CaseOutput};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::item::meta::Meta;
use crate::item::tensor::Tensor;
use crate::layout::window::Window;
use crate::memory;
use crate::ops::call::Resolved;
use crate::ops::call::nodes::{Node, NodeInput, Plan, PlanOperand, Stop, specified};
use crate::storage::source::Source;
use tensorop_files::internal::operators::call::Operands;
use tensorop_files::internal::operators::fill::{Fill, Limits, Region, Scratch};

/// Why a case has no output.
#[derive(Debug)]
pub enum NoOutput {
    /// The operator refuses its inputs.
    Refused(Error),
    /// The operator or one of its features is unknown.
    Unsupported(String),
}

impl From<Error> for NoOutput {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// A plan refuses unknown features with a kind of their own.
fn planned<T>(result: Result<T>) -> CaseResult<T> {
    result.map_err(|error| match error.kind() {
        ErrorKind::Unsupported => NoOutput::Unsupported(error.to_string()),
        _ => NoOutput::Refused(error),
    })
}

/// The result of running a case.
pub type CaseResult<T> = Result<T, NoOutput>;

/// Returns the outputs of a case.
///
/// # Errors
/// The operator refuses its inputs, or is not known.
pub fn outputs(case: &Case) -> CaseResult<Vec<Tensor>> {
    let made = operator_outputs(case)?;
    let output = |output: &CaseOutput| match output {
        CaseOutput::Operator(number) => Ok(made[*number].try_clone()?),
        CaseOutput::Given(tensor) => Ok(tensor.try_clone()?),
    };
    case.outputs.iter().map(output).collect()
}

fn operator_outputs(case: &Case) -> CaseResult<Vec<Tensor>> {
    let node = planned(Node::new(case.specification, &case.operator, case.version, &case.attributes))?;
    let mut inputs: Vec<Option<&Tensor>> = Vec::new();
    for input in &case.inputs {
        let takes_sequence = case.operator == "ConcatFromSequence";
        match input {
            CaseInput::Absent => inputs.push(None),
            CaseInput::Tensor(tensor) if !takes_sequence => inputs.push(Some(tensor)),
            CaseInput::Sequence(tensors) if takes_sequence => inputs.extend(tensors.iter().map(Some)),
            CaseInput::Tensor(_) => return Err(NoOutput::Unsupported("a tensor as sequence".to_owned())),
            CaseInput::Sequence(tensors) => {
                let names = tensors.iter().filter_map(|tensor| specified::type_name(tensor.dtype()));
                let names = names.map(|name| (inputs.len(), format!("seq({name})")));
                specified::check_types(case.specification, &case.operator, case.version, names)?;
                return Err(NoOutput::Unsupported("a sequence as data".to_owned()));
            }
        }
    }
    let count = case.operator_outputs;
    (0..count).map(|n| output(node.clone().output(n, count), &inputs)).collect()
}

/// Fills the output at once, since the inputs of a case are in memory.
fn run(mut fill: Box<dyn Fill>) -> Result<Tensor> {
    let limits = Limits::default();
    let way = fill.ways(&limits)[0];
    fill.take(way);
    for holding in fill.holdings(way, &limits) {
        fill.hold(&holding, &limits)?;
    }
    let Meta { dtype, shape, .. } = fill.meta().clone();
    let mut bytes = memory::zeros(fill.meta().bytes()).context("output")?;
    if !bytes.is_empty() {
        fill.fill(&Region::Box(Window::whole(&shape)), &mut bytes, &mut Scratch::default())?;
    }
    fill.finish()?;
    Tensor::new(dtype, shape, bytes)
}

fn output(node: Node, inputs: &[Option<&Tensor>]) -> CaseResult<Tensor> {
    let known = |input: &Option<_>| {
        let tensor: &Tensor = (*input)?;
        Some(NodeInput { meta: tensor.meta(), items: Some(tensor.bytes()) })
    };
    let known: Vec<_> = inputs.iter().map(known).collect();
    let plan = planned(node.plan(&known).map_err(|stop| match stop {
        Stop::Refused(error) => error,
        Stop::Unbound(_) => unreachable!("all inputs of a case are known"),
    }))?;
    let Plan { data, indices, updates, steps, .. } = plan;
    let source = |n: usize, label: &str| {
        let tensor = inputs[n].expect("an input that was taken").try_clone()?;
        Ok::<_, Error>(Source::with_free_width(tensor, label.to_owned()))
    };
    let operand = |operand: Option<PlanOperand>, label: &str| {
        let made = operand.map(|operand| match operand {
            PlanOperand::Input(n) => source(n, label),
            PlanOperand::Made(tensor) => Ok(Source::memory(tensor, label.to_owned())),
        });
        made.transpose()
    };
    let (mut indices, mut updates) = (operand(indices, "indices")?, operand(updates, "updates")?);
    let mut data = data.into_iter().map(|n| source(n, "data")).collect::<Result<Vec<_>>>()?;
    let mut output = None;
    for (call, _) in steps {
        data.extend(output.take().map(|output| Source::memory(output, "output".to_owned())));
        let takes_indices = matches!(call.resolved, Resolved::Scattered(..) | Resolved::Gathered(_));
        let takes_updates = call.updates.is_some();
        let operands = Operands {
            data: std::mem::take(&mut data),
            indices: if takes_indices { indices.take() } else { None },
            updates: if takes_updates { updates.take() } else { None },
            ..Operands::default()
        };
        output = Some(run(operands.link_resolved(call, Limits::default())?)?);
    }
    Ok(output.expect("a plan has a call"))
}
