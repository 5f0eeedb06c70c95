//! The parameters and ports of a machine or of a level, from JSON.

use loggp::__private::escaped;
use loggp::params::Parameter;
use loggp::{ParamsBuilder, Ports};
use serde_json::{Map, Value};

/// Parses the ports of a machine or of a level, if it has any.
pub fn parse_ports(object: &Value) -> Result<Option<Ports>, String> {
    match object.get("ports").filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.parse().map_err(|why| format!("ports: {why}"))?)),
        Some(other) => Err(format!("it has ports {other}; give \"single\" or \"dual\"")),
    }
}

/// Sets all parameters of a JSON object.
pub fn set_parameters(
    mut builder: ParamsBuilder,
    params: &Map<String, Value>,
) -> Result<ParamsBuilder, String> {
    for (name, value) in params {
        let parameter = Parameter::by_name(name);
        let text = match (value, parameter) {
            (Value::Null, Some(_)) => continue,
            (Value::Number(number), Some(parameter)) if parameter.is_time() && number.is_i64() => {
                format!("{number}ps")
            }
            (Value::Number(number), Some(parameter)) if !parameter.is_time() && number.is_u64() => {
                number.to_string()
            }
            (Value::Number(number), Some(parameter)) => {
                let what =
                    if parameter.is_time() { "picoseconds; write \"6us\" for other units" } else { "things" };
                return Err(format!("{name} = {number} is not a whole number of {what}"));
            }
            (Value::String(text), Some(_)) if !text.contains([',', '=']) => text.clone(),
            (value, Some(_)) => {
                return Err(format!(
                    "{name} = {} is no value; write 6000000 or \"6us\"",
                    escaped(&value.to_string())
                ));
            }
            (_, None) => {
                let name = escaped(name);
                return Err(format!("{name:?} is not a parameter; there are {}", Parameter::names()));
            }
        };
        builder = builder.set(&format!("{name}={text}")).map_err(|why| why.to_string())?;
    }
    Ok(builder)
}
